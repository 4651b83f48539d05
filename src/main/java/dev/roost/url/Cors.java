package dev.roost.url;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What pages of other origins may do with an agent's URL (CORS, in the Fetch standard). */
final class Cors {
  private static final String ANY = "*";
  private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9-]+(?: *, *[A-Za-z0-9-]+)*");
  private static final int MOST_NAMES_CHARACTERS = 1_000;
  private static final String SECONDS = "600";

  private Cors() {}

  /** The headers of each response to that origin; empty if its pages must not read responses. */
  static Map<String, String> headers(AgentUrl url, String origin) {
    Map<String, String> headers = new LinkedHashMap<>();
    if (url.corsOrigins().isEmpty()) {
      return headers;
    }
    boolean forAll = url.corsOrigins().contains(ANY);
    if (!forAll) {
      headers.put("Vary", "Origin");
    }
    if (origin != null && (forAll || url.corsOrigins().contains(origin))) {
      headers.put("Access-Control-Allow-Origin", forAll ? ANY : origin);
      headers.put("Access-Control-Expose-Headers", ANY);
    }
    return headers;
  }

  /**
   * The headers of the response to a preflight request.
   *
   * @param names Access-Control-Request-Headers, or null
   * @return empty: the origin isn't allowed
   */
  static Map<String, String> preflight(AgentUrl url, String origin, String names) {
    Map<String, String> headers = headers(url, origin);
    if (!headers.containsKey("Access-Control-Allow-Origin")) {
      return Map.of();
    }
    headers.put("Access-Control-Allow-Methods", String.join(", ", methods(url)));
    if (names != null
        && names.length() <= MOST_NAMES_CHARACTERS
        && NAMES.matcher(names.strip()).matches()) {
      headers.put("Access-Control-Allow-Headers", names.strip());
    }
    headers.put("Access-Control-Max-Age", SECONDS);
    return headers;
  }

  /** All methods that the URL takes. */
  static List<String> methods(AgentUrl url) {
    List<String> methods = new ArrayList<>(url.methods());
    if (methods.contains("GET")) {
      methods.add("HEAD");
    }
    return methods;
  }
}
