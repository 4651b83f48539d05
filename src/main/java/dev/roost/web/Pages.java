package dev.roost.web;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Set;

/**
 * Serves the dashboard: the same document for the address of every page; its script renders the
 * page (src/main/resources/web). The dashboard loads nothing from other origins, and no other
 * origin may frame it.
 */
@ApplicationScoped
class Pages {
  /** The first path segment of each page; {@code shell/routes.ts} lists the pages. */
  private static final Set<String> PAGES =
      Set.of(
          "agents",
          "approvals",
          "approve",
          "builds",
          "create",
          "executions",
          "executor-jobs",
          "issues",
          "search",
          "templates",
          "keys",
          "login",
          "notifications",
          "rollouts",
          "schedules",
          "settings",
          "stores",
          "webhooks");

  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** Runs before the routes of static files. */
  static final int ORDER = -100;

  void routes(@Observes Router router) {
    router.route().order(ORDER).handler(this::page);
  }

  private void page(RoutingContext context) {
    HttpMethod method = context.request().method();
    String path = context.normalizedPath();
    boolean reading = method == HttpMethod.GET || method == HttpMethod.HEAD;
    if (!reading) {
      context.next();
    } else if (path.equals("/")) {
      secure(context.response().headers());
      context.next();
    } else if (PAGES.contains(firstPart(path))) {
      context.reroute("/");
    } else {
      context.next();
    }
  }

  private static String firstPart(String path) {
    int end = path.indexOf('/', 1);
    return end < 0 ? path.substring(1) : path.substring(1, end);
  }

  /**
   * No referrer, because the address may contain a one-time token; no cache, because the document
   * contains the file names of one version.
   */
  static void secure(MultiMap headers) {
    headers.set("Content-Security-Policy", POLICY);
    headers.set("Referrer-Policy", "no-referrer");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Permissions-Policy", "camera=(), geolocation=(), microphone=()");
    headers.set("Cache-Control", "no-cache");
  }
}
