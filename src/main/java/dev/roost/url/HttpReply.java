package dev.roost.url;

import dev.roost.api.Body;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The response that a return value is: an object whose status is a number, or any other JSON value
 * as the body.
 *
 * @param headers by name in lower case, with Content-Type
 */
record HttpReply(int status, Map<String, String> headers, byte[] body) {
  private static final String TYPE = "content-type";
  private static final String JSON = "application/json";
  private static final Pattern STATUS = Pattern.compile("-?[0-9][0-9.eE+-]*");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
  private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e]{0,4096}");
  private static final int MOST_HEADERS = 50;
  private static final int LEAST_STATUS = 200;
  private static final int MOST_STATUS = 599;

  /**
   * Headers for the whole origin, which is the dashboard's; and those of the connection, and those
   * that the URL's settings or Roost give.
   */
  private static final Set<String> RESERVED =
      Set.of(
          "accept-ch",
          "alt-svc",
          "clear-site-data",
          "connection",
          "content-length",
          "content-security-policy",
          "content-security-policy-report-only",
          "critical-ch",
          "cross-origin-embedder-policy",
          "cross-origin-opener-policy",
          "date",
          "document-policy",
          "feature-policy",
          "integrity-policy",
          "keep-alive",
          "nel",
          "origin-agent-cluster",
          "permissions-policy",
          "proxy-authenticate",
          "proxy-connection",
          "public-key-pins",
          "referrer-policy",
          "report-to",
          "reporting-endpoints",
          "service-worker-allowed",
          "set-cookie",
          "set-cookie2",
          "set-login",
          "sourcemap",
          "speculation-rules",
          "strict-transport-security",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "use-as-dictionary",
          "www-authenticate",
          "x-content-type-options",
          "x-frame-options",
          "x-request-id");

  private static final List<String> RESERVED_PREFIXES =
      List.of("access-control-", "sec-", "secure-session-");

  /**
   * Of scripts and style sheets. The dashboard's content security policy allows those of its
   * origin, so an agent must not serve any.
   */
  private static final Pattern ACTIVE = Pattern.compile(".*(?:script|css|wasm|xslt).*");

  /** Of any JSON value. */
  static HttpReply json(JsonText value) {
    String text = value == null ? "null" : value.text();
    return new HttpReply(200, Map.of(TYPE, JSON), text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Reads a response.
   *
   * @param value null for JSON null
   * @throws Problem validation_failed: the value is a response, but not a valid one
   */
  static HttpReply of(JsonText value) {
    if (value == null || !value.text().startsWith("{")) {
      return json(value);
    }
    Body body = Body.parseLine(value.text().getBytes(StandardCharsets.UTF_8));
    if (body.json("status").filter(text -> STATUS.matcher(text.text()).matches()).isEmpty()) {
      return json(value);
    }
    int status = body.integer("status", LEAST_STATUS, MOST_STATUS).orElse(LEAST_STATUS);
    Map<String, String> headers = body.isNull("headers") ? new LinkedHashMap<>() : headers(body);
    boolean isBinary = body.json("body_base64").isPresent() && !body.isNull("body_base64");
    if (isBinary && body.json("body").isPresent() && !body.isNull("body")) {
      body.reject("body_base64", "contradiction", "Return body or body_base64, not both.");
    }
    byte[] bytes = isBinary ? decoded(body) : text(body);
    headers.putIfAbsent(TYPE, isBinary ? "application/octet-stream" : "text/plain; charset=utf-8");
    body.check();
    return new HttpReply(status, headers, bytes);
  }

  private static byte[] text(Body body) {
    return body.anyString("body").orElse("").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] decoded(Body body) {
    try {
      return Base64.getDecoder().decode(body.anyString("body_base64").orElse(""));
    } catch (IllegalArgumentException e) {
      body.reject("body_base64", "malformed", "body_base64 must be base64.");
      return new byte[0];
    }
  }

  private static Map<String, String> headers(Body body) {
    Map<String, String> headers = new LinkedHashMap<>();
    Map<String, String> given = body.texts("headers").orElse(Map.of());
    if (given.size() > MOST_HEADERS) {
      body.reject(
          "headers",
          "out_of_range",
          "A response can have at most %d headers.".formatted(MOST_HEADERS));
      return headers;
    }
    given.forEach(
        (name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT);
          String at = "headers/" + Text.beginning(name, 100).replace("~", "~0").replace("/", "~1");
          if (!NAME.matcher(name).matches()) {
            body.reject(at, "invalid_name", "A header's name must be a token of HTTP.");
          } else if (isReserved(lower)) {
            body.reject(at, "reserved", "An agent can't set the header " + name + ".");
          } else if (!VALUE.matcher(value).matches()) {
            body.reject(
                at,
                "out_of_range",
                "A header's value must have at most 4,096 printable ASCII characters on one line.");
          } else if (lower.equals(TYPE) && isActive(value)) {
            body.reject(
                at,
                "reserved",
                "Agents can't serve scripts and style sheets, which the dashboard of the same origin could load.");
          } else {
            headers.put(lower, value);
          }
        });
    return headers;
  }

  private static boolean isReserved(String name) {
    return RESERVED.contains(name) || RESERVED_PREFIXES.stream().anyMatch(name::startsWith);
  }

  private static boolean isActive(String type) {
    return ACTIVE.matcher(type.toLowerCase(Locale.ROOT)).matches();
  }
}
