package dev.roost.api;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import java.net.URI;

/**
 * The origin of a browser request, from headers that only browsers set and no page can change.
 * Browsers add cookies to requests from any page, so a cookie alone does not prove that its owner
 * intended the request.
 */
enum Sender {
  /** A page of this Roost. */
  OWN_PAGE,
  /** A page of another site, or no page. */
  OTHER_PAGE,
  /** Not a browser, or a very old browser. */
  UNKNOWN;

  /**
   * Decides by {@code Sec-Fetch-Site}. Browsers omit this header in requests without TLS to other
   * machines; {@code Origin} decides then.
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

  /** Ignores the scheme, which Roost doesn't know behind a proxy that terminates TLS. */
  private static boolean isHost(String origin, HostAndPort host) {
    try {
      String authority = URI.create(origin).getRawAuthority();
      return authority != null && host != null && authority.equalsIgnoreCase(host.toString());
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
