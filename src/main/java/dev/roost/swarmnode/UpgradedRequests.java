package dev.roost.swarmnode;

import io.quarkus.vertx.http.runtime.filters.QuarkusRequestWrapper;
import io.vertx.ext.web.RoutingContext;
import java.lang.reflect.Method;
import org.jboss.logging.Logger;

/**
 * Ends requests that have become WebSockets. Quarkus counts a request until its response ends,
 * which that of a WebSocket never does, so each stop would wait for all listeners that there ever
 * were. It has no public method for that.
 */
final class UpgradedRequests {
  private static final Logger LOG = Logger.getLogger(UpgradedRequests.class);

  private UpgradedRequests() {}

  static void end(RoutingContext context) {
    try {
      Method done = QuarkusRequestWrapper.class.getDeclaredMethod("done");
      done.setAccessible(true);
      done.invoke(QuarkusRequestWrapper.get(context.request()));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debugf("the stop will wait for a listener: %s", e);
    }
  }
}
