package dev.roost.url;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A request to the URL of an agent.
 *
 * @param path what follows the agent's name, percent-encoded; "/" for nothing
 * @param query percent-encoded, without the question mark; or null
 * @param headers all values by name in lower case
 */
record RunRequest(
    String method, String path, String query, Map<String, List<String>> headers, byte[] body) {
  static RunRequest of(
      String method,
      String path,
      String query,
      Iterable<Map.Entry<String, String>> entries,
      byte[] body) {
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (Map.Entry<String, String> entry : entries) {
      headers
          .computeIfAbsent(entry.getKey().toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(entry.getValue());
    }
    return new RunRequest(method, path, query, headers, body);
  }

  /** The value of a header, of several the first; null: the request has none of that name. */
  String header(String name) {
    List<String> values = headers.get(name.toLowerCase(Locale.ROOT));
    return values == null ? null : values.get(0);
  }

  /** The media type in lower case, without parameters; empty: none is given. */
  String mediaType() {
    String type = header("content-type");
    return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
  }

  boolean isRead() {
    return method.equals("GET") || method.equals("HEAD");
  }

  /**
   * The query parameters, decoded, each with all its values.
   *
   * @throws Problem malformed_json
   */
  Map<String, List<String>> parameters() {
    Map<String, List<String>> parameters = new LinkedHashMap<>();
    for (String part : query == null ? new String[0] : query.split("&")) {
      if (!part.isEmpty()) {
        int end = part.indexOf('=');
        String name = decode(end < 0 ? part : part.substring(0, end));
        String value = end < 0 ? "" : decode(part.substring(end + 1));
        parameters.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
      }
    }
    return parameters;
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw Problem.of(
          ErrorCode.MALFORMED_JSON,
          "The query has " + Text.quote(text) + ", which is not percent-encoded.");
    }
  }
}
