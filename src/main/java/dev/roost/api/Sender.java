package dev.roost.api;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import java.net.URI;

/**
 * Which page a browser sends a request for, by what only browsers say and no page can change.
 * Browsers add cookies to requests of any page, so a cookie alone does not say that its owner wants
 * the request.
 */
enum Sender {
  /** A page of this Roost's own. */
  OWN_PAGE,
  /** A page of another site, or none. */
  OTHER_PAGE,
  /** No browser, or a very old one. */
  UNKNOWN;

  /**
   * By {@code Sec-Fetch-Site}. Where that is missing, as it is in requests without TLS to other
   * machines, by {@code Origin}.
   */
  static Sender of(HttpServerRequest request) {
    String site = request.getHeader("Sec-Fetch-Site");
    if (site != null) {
      return site.equals("same-origin") ? OWN_PAGE : OTHER_PAGE;
    }
    String origin = request.getHeader("Origin");
    if (origin == null) {
      return UNKNOWN;
    }
    return isHost(origin, request.authority()) ? OWN_PAGE : OTHER_PAGE;
  }

  /** Without the scheme, which Roost doesn't know behind a proxy that does the TLS. */
  private static boolean isHost(String origin, HostAndPort host) {
    try {
      String authority = URI.create(origin).getRawAuthority();
      return authority != null && host != null && authority.equalsIgnoreCase(host.toString());
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
