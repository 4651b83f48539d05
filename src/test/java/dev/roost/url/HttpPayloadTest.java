package dev.roost.url;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.JsonValues;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HttpPayloadTest {
  private static AgentUrl url(UrlFormat format, UrlAuthentication authentication) {
    return new AgentUrl(
        "agent_1",
        "orders",
        List.of("POST"),
        UrlMode.WAIT,
        format,
        authentication,
        null,
        null,
        null,
        null,
        List.of(),
        null,
        30,
        Instant.EPOCH,
        Instant.EPOCH);
  }

  private static RunRequest request(String method, String query, byte[] body, String... headers) {
    List<Map.Entry<String, String>> entries = new ArrayList<>();
    for (int i = 0; i < headers.length; i += 2) {
      entries.add(Map.entry(headers[i], headers[i + 1]));
    }
    return RunRequest.of(method, "/a%20b", query, entries, body);
  }

  private static RunRequest post(String body, String... headers) {
    return request("POST", null, body.getBytes(StandardCharsets.UTF_8), headers);
  }

  private static JsonText json(RunRequest request) {
    return HttpPayload.of(request, url(UrlFormat.JSON, UrlAuthentication.PUBLIC));
  }

  @SuppressWarnings("unchecked") // Whoever asks knows what is there.
  private static <T> T http(RunRequest request, UrlAuthentication authentication, String path) {
    JsonText payload = HttpPayload.of(request, url(UrlFormat.HTTP, authentication));
    return (T) JsonValues.at(payload.text().getBytes(StandardCharsets.UTF_8), path);
  }

  private static ErrorCode refusal(RunRequest request) {
    return assertThrows(Problem.class, () -> json(request)).code();
  }

  @Test
  void aBodyIsThePayloadWithItsExactText() {
    assertEquals("{\"a\": 1.10}", json(post(" {\"a\": 1.10}\n")).text());
    assertNull(json(post("")));
    assertEquals(ErrorCode.MALFORMED_JSON, refusal(post("{")));
    String form = "application/x-www-form-urlencoded";
    assertEquals("[1]", json(post("[1]", "Content-Type", form)).text());
    assertEquals(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE, refusal(post("a=b", "Content-Type", form + "; x=y")));
  }

  @Test
  void theQueryOfAGetIsThePayload() {
    RunRequest get = request("GET", "name=Ada+L&q=%C3%A9&&empty", new byte[0]);
    assertEquals("{\"name\":\"Ada L\",\"q\":\"é\",\"empty\":\"\"}", json(get).text());
    assertEquals("{}", json(request("HEAD", null, new byte[0])).text());
    assertEquals(ErrorCode.VALIDATION_FAILED, refusal(request("GET", "a=1&a=2", new byte[0])));
    assertEquals(ErrorCode.MALFORMED_JSON, refusal(request("GET", "a=%zz", new byte[0])));
  }

  @Test
  void anEventInBinaryModeBecomesOneInStructuredMode() {
    RunRequest event =
        post(
            "{\"n\": 1.10}",
            "ce-specversion",
            "1.0",
            "ce-id",
            "7",
            "ce-source",
            "/shop",
            "ce-type",
            "order.paid",
            "ce-subject",
            "Euro%20%E2%82%AC",
            "ce-data",
            "no attribute",
            "Content-Type",
            "application/json");
    assertEquals(
        "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/shop\",\"type\":\"order.paid\","
            + "\"subject\":\"Euro €\",\"datacontenttype\":\"application/json\",\"data\":{\"n\": 1.10}}",
        json(event).text());
    assertEquals(ErrorCode.VALIDATION_FAILED, refusal(post("1", "ce-specversion", "1.0")));
  }

  @Test
  void theDataOfAnEventMayBeTextOrBytes() {
    String[] headers = {
      "ce-specversion",
      "1.0",
      "ce-id",
      "7",
      "ce-source",
      "/s",
      "ce-type",
      "t",
      "Content-Type",
      "text/xml"
    };
    assertTrue(json(post("<a/>", headers)).text().endsWith("\"data\":\"<a/>\"}"));
    RunRequest bytes = request("POST", null, new byte[] {(byte) 0xff}, headers);
    assertTrue(json(bytes).text().endsWith("\"data_base64\":\"/w==\"}"));
  }

  @Test
  void anEventInStructuredModeIsThePayload() {
    String type = ReceivedEvent.STRUCTURED;
    String event =
        "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\",\"data\":2}";
    assertEquals(event, json(post(event, "Content-Type", type + "; charset=utf-8")).text());
    assertEquals(ErrorCode.VALIDATION_FAILED, refusal(post("{}", "Content-Type", type)));
    assertEquals(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE, refusal(post("[]", "Content-Type", ReceivedEvent.BATCH)));
  }

  @Test
  void theWholeRequestIsThePayload() {
    RunRequest request =
        request(
            "PUT",
            "a=1&a=%202",
            "text\0".getBytes(StandardCharsets.UTF_8),
            "Accept",
            "text/html",
            "accept",
            "*/*",
            "Cookie",
            "a=1; roost_session_8080=secret; b=2",
            "Connection",
            "keep-alive",
            "Roost-Page-Token",
            "secret",
            "Authorization",
            "Basic eA==");
    Map<String, Object> headers = http(request, UrlAuthentication.PUBLIC, "http.headers");
    assertEquals(
        Map.of("accept", "text/html, */*", "cookie", "a=1; b=2", "authorization", "Basic eA=="),
        headers);
    assertEquals("PUT", http(request, UrlAuthentication.PUBLIC, "http.method"));
    assertEquals("/a%20b", http(request, UrlAuthentication.PUBLIC, "http.path"));
    assertEquals(List.of("1", " 2"), http(request, UrlAuthentication.PUBLIC, "http.query.a"));
    assertEquals("text\0", http(request, UrlAuthentication.PUBLIC, "http.body"));
    headers = http(request, UrlAuthentication.KEY, "http.headers");
    assertEquals(List.of("accept", "cookie"), headers.keySet().stream().sorted().toList());
  }

  /** Also if a caller sends its key where none is needed. */
  @Test
  void keysOfRoostAreNeverPassedOn() {
    RunRequest request = post("", "Authorization", "Bearer roost_a_b", "Cookie", "roost_session=x");
    assertEquals(Map.of(), http(request, UrlAuthentication.PUBLIC, "http.headers"));
  }

  @Test
  void bytesThatAreNoTextAreBase64() {
    RunRequest request = request("POST", null, new byte[] {(byte) 0xff, 0});
    assertEquals("/wA=", http(request, UrlAuthentication.PUBLIC, "http.body_base64"));
  }

  @Test
  void redeliveriesHaveTheSameKey() {
    assertNull(DeliveryKey.of(post("1")));
    assertEquals("k", DeliveryKey.of(post("1", "idempotency-key", "k", "webhook-id", "m")));
    assertEquals("webhook-id: m", DeliveryKey.of(post("1", "Webhook-Id", "m")));
    assertEquals("X-GitHub-Delivery: d", DeliveryKey.of(post("1", "x-github-delivery", "d")));
    String[] binary = {"ce-specversion", "1.0", "ce-id", "7", "ce-source", "/s", "ce-type", "t"};
    String event = DeliveryKey.of(post("1", binary));
    assertEquals("event: /s 7", event);
    String structured = "{\"source\": \"/s\", \"id\": \"7\"}";
    assertEquals(event, DeliveryKey.of(post(structured, "Content-Type", ReceivedEvent.STRUCTURED)));
    assertTrue(DeliveryKey.of(post("1", "webhook-id", "m".repeat(300))).matches("[0-9a-f]{64}"));
    assertEquals(DeliveryKey.content(post("1", "a", "b")), DeliveryKey.content(post("1")));
    assertNotEquals(DeliveryKey.content(post("2")), DeliveryKey.content(post("1")));
  }

  @Test
  void sendersThatNumberTheirEventsInTheBodyAreRecognized() {
    String[] stripe = {"Stripe-Signature", "t=1,v1=00"};
    RunRequest first = post("{\"id\": \"evt_1\", \"pending_webhooks\": 2}", stripe);
    RunRequest again = post("{\"id\": \"evt_1\", \"pending_webhooks\": 1}", stripe);
    assertEquals("id: evt_1", DeliveryKey.of(first));
    assertEquals(DeliveryKey.of(first), DeliveryKey.of(again));
    assertEquals(DeliveryKey.content(first), DeliveryKey.content(again));
    String[] slack = {"X-Slack-Signature", "v0=00"};
    assertEquals("event_id: Ev1", DeliveryKey.of(post("{\"event_id\": \"Ev1\"}", slack)));
    for (String none : List.of("command=%2Fhi", "{\"event_id\": 1}", "[]", "")) {
      assertNull(DeliveryKey.of(post(none, slack)), none);
      assertNotEquals(DeliveryKey.content(first), DeliveryKey.content(post(none, slack)), none);
    }
    String[] own = {"Stripe-Signature", "t=1,v1=00", "Idempotency-Key", "k"};
    assertNotEquals(
        DeliveryKey.content(post("{\"id\": \"evt_1\"}", own)),
        DeliveryKey.content(post("{\"id\": \"evt_1\", \"a\": 1}", own)));
  }
}
