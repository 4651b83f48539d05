package dev.roost.webhook;

import dev.roost.config.Network;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The destination of a webhook's URL. Forms that programs interpret differently (addresses in
 * hexadecimal, octal or with fewer than four numbers, user names, zones, characters beyond ASCII)
 * are refused.
 *
 * @param host from the URL, in lower case, without brackets and trailing dot
 * @param port the default port when the URL has none
 * @param uri the path and the query, escaped
 */
record Endpoint(boolean secure, String host, int port, String uri) {
  static final int MAX_CHARACTERS = 2_048;

  private static final String LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?";
  private static final Pattern NAME = Pattern.compile(LABEL + "(?:\\." + LABEL + ")*+\\.?+");
  private static final Pattern AUTHORITY =
      Pattern.compile("(?<host>\\[[^\\[\\]]*+]|[^:\\[\\]]*+)(?::(?<port>\\d{1,5}))?");

  /**
   * Resolvers interpret a name whose last label is a number as an IPv4 address (WHATWG URL, 3.5).
   */
  private static final Pattern ENDS_IN_NUMBER =
      Pattern.compile("(?:.*\\.)?(?:\\d++|0[xX][0-9a-fA-F]*+)\\.?+");

  /** An invalid URL; the message says what to write instead. */
  static final class Invalid extends Exception {
    private Invalid(String message) {
      super(message);
    }
  }

  static Endpoint parse(String url) throws Invalid {
    if (url.length() > MAX_CHARACTERS) {
      throw new Invalid("A URL must have at most " + MAX_CHARACTERS + " characters.");
    }
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException e) {
      throw new Invalid("This is not a URL: " + e.getReason() + ".");
    }
    String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("https") && !scheme.equals("http")) {
      throw new Invalid("A URL must begin with https:// or http://.");
    }
    String authority = uri.getRawAuthority();
    if (authority == null) {
      throw new Invalid("The URL has no host.");
    }
    if (authority.contains("@")) {
      throw new Invalid(
          "A URL must not contain a user name or password. Receivers authenticate Roost by the "
              + "signature.");
    }
    if (uri.getRawFragment() != null) {
      throw new Invalid("The fragment, from # on, is never sent. Remove it.");
    }
    Matcher parts = AUTHORITY.matcher(authority);
    if (!parts.matches()) {
      throw new Invalid("The URL's host is neither a name nor an IP address.");
    }
    boolean secure = scheme.equals("https");
    int port = parts.group("port") == null ? secure ? 443 : 80 : number(parts.group("port"));
    return new Endpoint(secure, host(parts.group("host")), port, pathAndQuery(uri));
  }

  /** The address, when the URL contains an address instead of a name. */
  Optional<InetAddress> address() {
    return Network.address(host);
  }

  /** Whether the name refers to this machine, regardless of the resolver (RFC 6761, 6.3). */
  boolean isLocalhost() {
    return host.equals("localhost") || host.endsWith(".localhost");
  }

  /** The value of the header {@code Host}. */
  String authority() {
    String written = host.contains(":") ? "[" + host + "]" : host;
    return port == (secure ? 443 : 80) ? written : written + ":" + port;
  }

  private static String pathAndQuery(URI uri) {
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    String before = "x://x";
    return URI.create(before + path + query).toASCIIString().substring(before.length());
  }

  private static String host(String text) throws Invalid {
    if (text.startsWith("[")) {
      String inner = text.substring(1, text.length() - 1);
      if (inner.contains("%")) {
        throw new Invalid("An IPv6 address must not have a zone.");
      }
      return Network.address(inner)
          .filter(address -> inner.contains(":"))
          .map(InetAddress::getHostAddress)
          .orElseThrow(() -> new Invalid("The text in brackets is not an IPv6 address."));
    }
    if (ENDS_IN_NUMBER.matcher(text).matches()) {
      if (Network.address(text).isEmpty()) {
        throw new Invalid("Write an IPv4 address as four decimal numbers, such as 192.0.2.1.");
      }
      return text;
    }
    if (text.length() > 254 || !NAME.matcher(text).matches()) {
      throw new Invalid(
          "The URL's host must consist of letters, digits, hyphens and dots. Write other characters "
              + "in the form of DNS, xn--….");
    }
    String name = text.toLowerCase(Locale.ROOT);
    return name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
  }

  private static int number(String port) throws Invalid {
    int number = Integer.parseInt(port);
    if (number < 1 || number > 65_535) {
      throw new Invalid("A port must be a number from 1 to 65535.");
    }
    return number;
  }
}
