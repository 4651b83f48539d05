package dev.roost.web;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.regex.Pattern;

/**
 * Serves the documentation at {@code /help}, which everyone may read: static files that {@code
 * src/main/help} builds, with the headers of the dashboard. Each page is a directory.
 */
@ApplicationScoped
class Help {
  private static final String HELP = "/help";
  private static final String NOT_FOUND = HELP + "/404.html";

  /** Files whose content is in their name. */
  private static final Pattern UNCHANGING = Pattern.compile(".*\\.[0-9a-f]{8}\\.min\\.(?:css|js)");

  void routes(@Observes Router router) {
    router.route(HELP + "*").order(Pages.ORDER).handler(Help::serve);
  }

  private static void serve(RoutingContext context) {
    HttpServerRequest request = context.request();
    String path = context.normalizedPath();
    boolean reading = request.method() == HttpMethod.GET || request.method() == HttpMethod.HEAD;
    if (!reading || !(path.equals(HELP) || path.startsWith(HELP + "/"))) {
      context.next();
      return;
    }
    MultiMap headers = context.response().headers();
    Pages.secure(headers);
    if (isFile(path.endsWith("/") ? path + "index.html" : path)) {
      if (UNCHANGING.matcher(path).matches()) {
        headers.remove(
            HttpHeaders.CACHE_CONTROL); // As the dashboard's, whose files are static too.
      }
      context.next();
    } else if (isFile(path + "/index.html")) {
      String query = request.query() == null ? "" : "?" + request.query();
      context.response().setStatusCode(302).putHeader("Location", path + "/" + query).end();
    } else if (path.equals(NOT_FOUND)) {
      context.next(); // Not packaged (scripts/dev): there is no help.
    } else {
      context.response().setStatusCode(404);
      context.reroute(NOT_FOUND);
    }
  }

  /** The class loader knows directories, too; the names of all files of the help have a dot. */
  private static boolean isFile(String path) {
    return path.indexOf('.', path.lastIndexOf('/')) > 0
        && Help.class.getClassLoader().getResource("META-INF/resources" + path) != null;
  }
}
