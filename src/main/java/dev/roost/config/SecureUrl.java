package dev.roost.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Set;

/** URLs whose responses are trusted: nobody in between can change them. */
public final class SecureUrl {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private SecureUrl() {}

  /** Whether it is an {@code https} URL, or an {@code http} URL of this machine. */
  public static boolean is(String url) {
    try {
      URI uri = new URI(url);
      if (uri.getHost() == null || uri.getRawFragment() != null || uri.getRawUserInfo() != null) {
        return false;
      }
      return "https".equalsIgnoreCase(uri.getScheme())
          || "http".equalsIgnoreCase(uri.getScheme()) && LOOPBACK.contains(uri.getHost());
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
