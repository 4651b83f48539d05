package dev.roost.web;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;

/**
 * Serves Ruff, which checks and formats scripts in the browser, with headers of its own: a worker
 * has the Content-Security-Policy of its file, so WebAssembly is allowed in this worker and on no
 * page.
 */
@ApplicationScoped
class Ruff {
  private static final String FILES = "/static/ruff/";
  private static final String POLICY =
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

  /** The addresses contain Ruff's version; the worker itself changes with Roost. */
  private static final String UNCHANGING = "public, immutable, max-age=31536000";

  void routes(@Observes Router router) {
    router.route(FILES + "*").order(Pages.ORDER).handler(Ruff::serve);
  }

  private static void serve(RoutingContext context) {
    MultiMap headers = context.response().headers();
    Pages.secure(headers);
    headers.set("Content-Security-Policy", POLICY);
    if (!context.normalizedPath().endsWith("/worker.js") && context.request().query() != null) {
      context.addHeadersEndHandler(
          end -> {
            if (context.response().getStatusCode() == 200) {
              headers.set(HttpHeaders.CACHE_CONTROL, UNCHANGING);
            }
          });
    }
    context.next();
  }
}
