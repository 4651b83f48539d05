package dev.roost.api;

import dev.roost.config.RoostConfig;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;
import org.jboss.logging.MDC;

/**
 * Logs each request after its response: the sender, the request and the outcome. Never logs a
 * query, a header or a body, which may contain secrets. The fields are also in the diagnostic
 * context, so that a JSON log has a property for each field.
 */
@ApplicationScoped
class AccessLog {
  private static final Logger LOG = Logger.getLogger("dev.roost.access");
  private static final String KEY_ID = AccessLog.class.getName() + ".keyId";
  private static final int PATH_LENGTH = 512;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Frequent requests of executors and probes. */
  private static final Pattern FREQUENT = Pattern.compile("/internal/.*+|/q/health(?:/.*+)?+");

  private static final Pattern UNPRINTABLE = Pattern.compile("[^\\x21-\\x7e]");

  private final boolean enabled;

  AccessLog(RoostConfig config) {
    this.enabled = config.accessLog();
  }

  /** Runs before all other routes, which may end the request. */
  void routes(@Observes @Priority(1) Router router) {
    if (enabled) {
      router.route().order(Integer.MIN_VALUE).handler(AccessLog::follow);
    }
  }

  /** Records the API key of the request. */
  static void sentWith(RoutingContext context, String keyId) {
    context.put(KEY_ID, keyId);
  }

  private static void follow(RoutingContext context) {
    long start = System.nanoTime();
    context.addEndHandler(
        end -> log(context, end.succeeded(), (System.nanoTime() - start) / NANOS_PER_MILLI));
    context.next();
  }

  private static void log(RoutingContext context, boolean whole, long millis) {
    HttpServerRequest request = context.request();
    String path = request.path() == null ? "" : UNPRINTABLE.matcher(request.path()).replaceAll("?");
    Logger.Level level = FREQUENT.matcher(path).matches() ? Logger.Level.DEBUG : Logger.Level.INFO;
    if (!LOG.isEnabled(level)) {
      return;
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("method", request.method().name());
    fields.put("path", path.substring(0, Math.min(path.length(), PATH_LENGTH)));
    fields.put("status", context.response().getStatusCode());
    fields.put("duration_ms", millis);
    if (!whole) {
      fields.put("aborted", true); // The client disconnected before the end.
    }
    if (request.remoteAddress() != null) {
      fields.put("client", request.remoteAddress().hostAddress());
    }
    put(fields, "key_id", context.get(KEY_ID));
    put(fields, "request_id", context.response().headers().get(RequestFilters.REQUEST_ID));
    fields.forEach(MDC::put);
    try {
      LOG.log(level, text(fields));
    } finally {
      fields.keySet().forEach(MDC::remove);
    }
  }

  private static void put(Map<String, Object> fields, String name, String value) {
    if (value != null) {
      fields.put(name, value);
    }
  }

  private static String text(Map<String, Object> fields) {
    StringBuilder text = new StringBuilder();
    fields.forEach((name, value) -> text.append(name).append('=').append(value).append(' '));
    return text.toString().strip();
  }
}
