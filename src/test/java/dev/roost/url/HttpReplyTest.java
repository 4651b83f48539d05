package dev.roost.url;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpReplyTest {
  private static HttpReply of(String json) {
    return HttpReply.of(new JsonText(json));
  }

  private static String body(HttpReply reply) {
    return new String(reply.body(), StandardCharsets.UTF_8);
  }

  @Test
  void anObjectWithAStatusIsAResponse() {
    HttpReply reply =
        of(
            "{\"status\": 201, \"headers\": {\"Content-Type\": \"text/html\", \"X-A\": \"b\"}, \"body\": \"<p>é\"}");
    assertEquals(201, reply.status());
    assertEquals(Map.of("content-type", "text/html", "x-a", "b"), reply.headers());
    assertEquals("<p>é", body(reply));
  }

  @Test
  void aBodyMayBeBytes() {
    HttpReply reply = of("{\"status\": 200, \"body_base64\": \"/wA=\"}");
    assertEquals("application/octet-stream", reply.headers().get("content-type"));
    assertEquals(2, reply.body().length);
    assertEquals(0, of("{\"status\": 404, \"headers\": null, \"body\": null}").body().length);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.10",
        "[1]",
        "\"x\"",
        "{}",
        "{\"status\": \"ok\", \"body\": 1}",
        "{\"body\": \"x\"}",
        "{\"status\": null}",
        "{\"status\": [200]}"
      })
  void anyOtherValueIsTheBody(String json) {
    HttpReply reply = of(json);
    assertEquals(200, reply.status());
    assertEquals("application/json", reply.headers().get("content-type"));
    assertEquals(json, body(reply));
  }

  @Test
  void nullIsJsonNull() {
    assertEquals("null", body(HttpReply.of(null)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"status\": 199",
        "\"status\": 600",
        "\"status\": 20.5",
        "\"status\": 200, \"header\": {}",
        "\"status\": 200, \"headers\": []",
        "\"status\": 200, \"headers\": {\"a b\": \"c\"}",
        "\"status\": 200, \"headers\": {\"a\": 1}",
        "\"status\": 200, \"headers\": {\"a\": \"b\\r\\nSet-Cookie: c\"}",
        "\"status\": 200, \"headers\": {\"a\\r\\nb\": \"c\"}",
        "\"status\": 200, \"headers\": {\"a\": \"é\"}",
        "\"status\": 200, \"headers\": {\"Set-Cookie\": \"a=b\"}",
        "\"status\": 200, \"headers\": {\"content-security-policy\": \"\"}",
        "\"status\": 200, \"headers\": {\"Access-Control-Allow-Origin\": \"*\"}",
        "\"status\": 200, \"headers\": {\"Transfer-Encoding\": \"chunked\"}",
        "\"status\": 200, \"headers\": {\"Content-Length\": \"1\"}",
        "\"status\": 200, \"headers\": {\"Sec-Session-Registration\": \"x\"}",
        "\"status\": 200, \"headers\": {\"Clear-Site-Data\": \"*\"}",
        "\"status\": 200, \"headers\": {\"Content-Type\": \"text/JavaScript\"}",
        "\"status\": 200, \"headers\": {\"Content-Type\": \"text/css\"}",
        "\"status\": 200, \"body\": {}",
        "\"status\": 200, \"body_base64\": \"?\"",
        "\"status\": 200, \"body\": \"\", \"body_base64\": \"\""
      })
  void aBadResponseIsRefusedWithPointers(String members) {
    Problem problem = assertThrows(Problem.class, () -> of("{" + members + "}"));
    assertFalse(problem.errors().isEmpty());
  }
}
