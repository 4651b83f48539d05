package dev.roost.api;

import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.HostAndPort;
import java.time.Duration;
import java.util.Optional;

/**
 * The session cookie of a browser, which scripts can't read. Cookies are shared between ports, so
 * the cookie's name includes the port of the address, if any: two Roosts on one machine have
 * separate sessions. Programs on other ports receive the cookie too, so the cookie is useless
 * without {@link RequestFilters#PAGE_TOKEN}.
 */
public final class SessionCookie {
  /** The name for an address without a port; otherwise followed by "_" and the port. */
  public static final String NAME = "roost_session";

  private SessionCookie() {}

  /** The session's secret in the request. */
  static Optional<String> secret(HttpServerRequest request) {
    return Optional.ofNullable(request.getCookie(name(request))).map(Cookie::getValue);
  }

  /** Sets the session cookie. */
  static void give(HttpServerRequest request, String secret, Duration lifetime) {
    add(request, secret, lifetime.toSeconds());
  }

  /** Deletes the session cookie. */
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

  /** Also true behind a proxy that terminates TLS and sends X-Forwarded-Proto. */
  private static boolean isOverTls(HttpServerRequest request) {
    String forwarded = request.getHeader("X-Forwarded-Proto");
    return request.isSSL()
        || forwarded != null && forwarded.split(",")[0].strip().equalsIgnoreCase("https");
  }
}
