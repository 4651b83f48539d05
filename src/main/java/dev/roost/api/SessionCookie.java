package dev.roost.api;

import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.HostAndPort;
import java.time.Duration;
import java.util.Optional;

/**
 * The cookie by which a browser shows its session: no script can read it. Cookies know no ports, so
 * its name has the one of the address, if that names one: two Roosts on a machine have two
 * sessions. Other programs get the cookie all the same, so it is of no use without {@link
 * RequestFilters#PAGE_TOKEN}.
 */
final class SessionCookie {
  /** The name at an address without a port; with one, "_" and the port follow. */
  static final String NAME = "roost_session";

  private SessionCookie() {}

  /** The session's secret that came with the request. */
  static Optional<String> secret(HttpServerRequest request) {
    return Optional.ofNullable(request.getCookie(name(request))).map(Cookie::getValue);
  }

  /** Gives the browser a session with the answer. */
  static void give(HttpServerRequest request, String secret, Duration lifetime) {
    add(request, secret, lifetime.toSeconds());
  }

  /** Takes the browser's session with the answer. */
  static void take(HttpServerRequest request) {
    add(request, "", 0);
  }

  private static void add(HttpServerRequest request, String value, long maxAgeSeconds) {
    HttpServerResponse response = request.response();
    response.removeCookies(name(request), false);
    response.addCookie(
        Cookie.cookie(name(request), value)
            .setPath("/")
            .setHttpOnly(true)
            .setSameSite(CookieSameSite.STRICT)
            .setSecure(isOverTls(request))
            .setMaxAge(maxAgeSeconds));
  }

  private static String name(HttpServerRequest request) {
    HostAndPort address = request.authority();
    return address == null || address.port() < 0 ? NAME : NAME + "_" + address.port();
  }

  /** Also behind a proxy that does the TLS and says so. */
  private static boolean isOverTls(HttpServerRequest request) {
    String forwarded = request.getHeader("X-Forwarded-Proto");
    return request.isSSL()
        || forwarded != null && forwarded.split(",")[0].strip().equalsIgnoreCase("https");
  }
}
