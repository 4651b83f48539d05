package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.HostileTexts;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The resource, with the settings as they are by default. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class WebhookIT {
  private static final String SECRET =
      "whsec_"
          + Base64.getEncoder().encodeToString("s".repeat(24).getBytes(StandardCharsets.UTF_8));

  private final Api api = Api.as(Role.WRITE);

  @Test
  void theSecretIsShownOnlyWhenItIsCreatedOrChanged() {
    Answer made = api.post("/v1/webhooks", "{\"url\": \"https://example.org/hook\"}");
    assertEquals(201, made.status(), made.text());
    String path = "/v1/webhooks/" + made.get("id");
    assertTrue(made.header("Location").endsWith(path));
    assertEquals("no-store", made.header("Cache-Control"));
    String secret = made.get("secret");
    assertTrue(Secret.mistake(secret).isEmpty(), secret);
    assertEquals(List.of("*"), made.get("event_types"));
    assertEquals("active", made.get("state"));
    assertEquals("", made.get("description"));
    assertNull(made.get("agent_id"));
    assertNull(made.get("message"));

    assertFalse(api.get(path).text().contains("whsec_"));
    assertFalse(api.get("/v1/webhooks").text().contains("whsec_"));
    assertFalse(api.patch(path, "{\"description\": \"x\"}").text().contains("whsec_"));

    Answer rotated = api.patch(path, "{\"rotate_secret\": true}");
    assertEquals(200, rotated.status());
    assertEquals("no-store", rotated.header("Cache-Control"));
    assertTrue(Secret.mistake(rotated.get("secret")).isEmpty());
    assertFalse(secret.equals(rotated.get("secret")));
    Answer given = api.patch(path, "{\"secret\": \"%s\"}".formatted(SECRET));
    assertEquals(SECRET, given.get("secret"));
    assertFalse(api.get(path).text().contains("whsec_"));
  }

  @Test
  void whatIsGivenIsChangedAndTheRestStays() {
    String agent =
        api.post("/v1/agents", "{\"script\": \"def main(request):\\n    pass\"}").get("id");
    Answer made =
        api.post(
            "/v1/webhooks",
            """
            {"url": "https://example.org/a", "description": "what for", "agent_id": "%s",
             "event_types": ["execution.*", "agent.deleted", "execution.*"], "secret": "%s"}"""
                .formatted(agent, SECRET));
    assertEquals(201, made.status(), made.text());
    assertEquals(SECRET, made.get("secret"));
    String path = "/v1/webhooks/" + made.get("id");
    Answer changed = api.patch(path, "{\"url\": \"http://example.org:81/b\"}");
    assertEquals("http://example.org:81/b", changed.get("url"));
    assertEquals("what for", changed.get("description"));
    assertEquals(agent, changed.get("agent_id"));
    assertEquals(List.of("execution.*", "agent.deleted"), changed.get("event_types"));
    assertNull(api.patch(path, "{\"agent_id\": null}").get("agent_id"));
    Answer disabled = api.patch(path, "{\"state\": \"disabled\"}");
    assertEquals("disabled", disabled.get("state"));
    assertNotNull(disabled.get("message"));
    Answer enabled = api.patch(path, "{\"state\": \"active\"}");
    assertEquals("active", enabled.get("state"));
    assertNull(enabled.get("message"));

    assertEquals(204, api.delete(path).status());
    assertEquals(404, api.get(path).status());
    assertEquals(404, api.patch(path, "{}").status());
    assertEquals(404, api.delete(path).status());
    assertEquals(404, api.get(path + "/deliveries").status());
    assertEquals(404, api.get(path + "/deliveries/dlv_1").status());
    assertEquals(404, api.post(path + "/test", null).status());
    assertEquals(404, api.post(path + "/replay", "{\"after\": \"0\"}").status());
    assertEquals(404, api.post(path + "/deliveries/dlv_1/replay", null).status());
  }

  @Test
  void everyMistakeIsReportedAtOnce() {
    Answer answer =
        api.post(
            "/v1/webhooks",
            """
            {"url": "http://127.0.0.1/", "event_types": ["execution.fail", "*"], "agent_id": "agent_x",
             "secret": "whsec_short", "state": "active", "descripton": "x"}""");
    assertEquals(422, answer.status());
    assertEquals(
        List.of("/url", "/event_types/0", "/agent_id", "/secret", "/state", "/descripton"),
        answer.get("errors.pointer"));
    assertTrue(answer.<String>get("errors[1].detail").contains("execution.failed"));
    assertEquals(List.of("/url"), api.post("/v1/webhooks", "{}").get("errors.pointer"));
    String path = "/v1/webhooks/" + make("https://example.org");
    Answer both =
        api.patch(path, "{\"secret\": \"%s\", \"rotate_secret\": true}".formatted(SECRET));
    assertEquals(List.of("/rotate_secret"), both.get("errors.pointer"));
    for (String body :
        List.of("{\"event_types\": []}", "{\"state\": \"gone\"}", "{\"url\": null}")) {
      assertEquals(422, api.patch(path, body).status(), body);
    }
    for (String body : List.of("{}", "{\"after\": \"-1\"}", "{\"after\": \"99999999999\"}")) {
      Answer replay = api.post(path + "/replay", body);
      assertEquals(List.of("/after"), replay.get("errors.pointer"), replay.text());
    }
  }

  @Test
  void whatIsObviouslyPrivateIsRefusedAtOnce() {
    for (String host :
        List.of(
            "127.0.0.1",
            "localhost",
            "localhost.",
            "LocalHost",
            "a.localhost",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "10.1.2.3",
            "169.254.169.254",
            "[fd00::1]",
            "0.0.0.0",
            "[64:ff9b::7f00:1]")) {
      Answer answer = api.post("/v1/webhooks", "{\"url\": \"http://%s/\"}".formatted(host));
      assertEquals(422, answer.status(), host);
      assertEquals(List.of("/url"), answer.get("errors.pointer"));
      assertTrue(
          answer.<String>get("errors[0].detail").contains("roost.webhooks.allowed-networks"),
          answer.text());
    }
    for (String host :
        List.of("2130706433", "0x7f.1", "0177.0.0.1", "x@example.org", "[::1%25lo]")) {
      Answer answer = api.post("/v1/webhooks", "{\"url\": \"http://%s/\"}".formatted(host));
      assertEquals(422, answer.status(), host);
    }
  }

  @Test
  void noUrlIsAFault() throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    long seed = System.nanoTime();
    List<String> urls = new ArrayList<>(List.of(Hooks.NEARLY_URLS));
    urls.add("https://example.org/" + "a".repeat(10_000));
    urls.add("https://" + "a.".repeat(1_000) + "example/");
    urls.add("https://[" + ":".repeat(1_000) + "]/");
    urls.add("https://example.org:" + "9".repeat(1_000) + "/");
    HostileTexts.mixed(seed, Hooks.NEARLY_URLS).limit(200).forEach(urls::add);
    for (String url : urls) {
      String body = "{\"url\": %s}".formatted(mapper.writeValueAsString(url));
      Answer answer = api.post("/v1/webhooks", body);
      String what = "seed " + seed + ": " + url + ": " + answer.text();
      if (answer.status() == 201) {
        assertEquals(204, api.delete("/v1/webhooks/" + answer.get("id")).status(), what);
      } else {
        assertEquals(422, answer.status(), what);
        assertEquals("/url", answer.get("errors[0].pointer"), what);
        assertFalse(answer.<String>get("errors[0].detail").isBlank(), what);
      }
    }
  }

  @Test
  void aNameThatLeadsToPrivateAddressesIsNotConnectedTo() throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"))) {
      // The name is made to lead there by the resolver of the tests.
      String path = "/v1/webhooks/" + make("http://private.test:" + listening.getLocalPort() + "/");
      Answer tested = api.post(path + "/test", null);
      assertEquals(200, tested.status(), tested.text());
      assertEquals("failed", tested.get("state"));
      assertEquals(1, (int) tested.get("attempts"));
      assertNull(tested.get("status"));
      assertTrue(
          tested
              .<String>get("message")
              .startsWith("\"private.test\" is 127.0.0.1 is not a public address (loopback)"),
          tested.text());
      listening.setSoTimeout(1);
      org.junit.jupiter.api.Assertions.assertThrows(
          java.net.SocketTimeoutException.class, listening::accept);
    }
  }

  @Test
  void onlyAKeyThatMayWriteSeesWebhooks() {
    String path = "/v1/webhooks/" + make("https://example.org");
    for (Role role : List.of(Role.READ, Role.EXECUTE)) {
      Api other = Api.as(role);
      for (String get :
          List.of("/v1/webhooks", path, path + "/deliveries", path + "/deliveries/dlv_1")) {
        assertEquals(403, other.get(get).status(), get);
      }
      for (String post :
          List.of(
              "/v1/webhooks",
              path + "/test",
              path + "/replay",
              path + "/deliveries/dlv_1/replay")) {
        assertEquals(403, other.post(post, "{}").status(), post);
      }
      assertEquals(403, other.patch(path, "{}").status());
      assertEquals(403, other.delete(path).status());
    }
  }

  @Test
  void webhooksAreListedNewestFirst() {
    String first = make("https://example.org/1");
    String second = make("https://example.org/2");
    Answer page = api.get("/v1/webhooks?limit=1");
    assertEquals(List.of(second), page.get("data.id"));
    Answer next = api.get("/v1/webhooks?limit=1&cursor=" + page.get("next_cursor"));
    assertEquals(List.of(first), next.get("data.id"));
  }

  @Test
  void everythingIsInTheDocument() {
    Answer document = Api.withKey(null).get("/openapi?format=json");
    Map<String, Object> paths = document.get("paths");
    assertTrue(
        paths
            .keySet()
            .containsAll(
                List.of(
                    "/v1/webhooks",
                    "/v1/webhooks/{id}",
                    "/v1/webhooks/{id}/test",
                    "/v1/webhooks/{id}/replay",
                    "/v1/webhooks/{id}/deliveries",
                    "/v1/webhooks/{id}/deliveries/{delivery_id}",
                    "/v1/webhooks/{id}/deliveries/{delivery_id}/replay")),
        paths.keySet().toString());
    Map<String, Object> request = document.get("components.schemas.WebhookRequest.properties");
    assertEquals(
        List.of(
            "agent_id", "description", "event_types", "rotate_secret", "secret", "state", "url"),
        request.keySet().stream().sorted().toList());
    Map<String, Object> delivery = document.get("components.schemas.Delivery.properties");
    assertTrue(
        delivery.keySet().containsAll(List.of("attempts_log", "next_attempt_at", "request")));
  }

  private String make(String url) {
    Answer made = api.post("/v1/webhooks", "{\"url\": \"%s\"}".formatted(url));
    assertEquals(201, made.status(), made.text());
    return made.get("id");
  }
}
