package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of agents at their URLs; the tests do what executors do. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class AgentUrlIT {
  private static final String SECRET = "It's a Secret to Everybody";

  @Inject Dispatcher dispatcher;
  @Inject FrameIntake intake;
  @Inject ObjectMapper mapper;
  @Inject Database database;

  private final Api stranger = Api.withKey(null);
  private Rows rows;
  private Api api;
  private String agent;
  private String name;
  private String executor;
  private int polls;

  @BeforeEach
  void makeAgent() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
    Answer created = api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\"}");
    agent = created.get("id");
    name = created.get("name");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
  }

  private Answer put(String fields) {
    return api.put("/v1/agents/" + agent + "/url", fields);
  }

  private void put(int status, String fields) {
    Answer answer = put(fields);
    assertEquals(status, answer.status(), answer.text());
  }

  private String run() {
    return "/run/" + name;
  }

  private long jobs() {
    return rows.count("executor_job where agent_id = ?", agent);
  }

  private String payload() {
    return rows.text(
        "select payload from executor_job where agent_id = ? order by id desc limit 1", agent);
  }

  /** Executes the next job that is submitted; its main returns that JSON, or raises for null. */
  private CompletableFuture<Work> returning(String value) {
    if (executor == null) {
      executor =
          QuarkusTransaction.requiringNew()
              .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(60)))
              .orElseThrow()
              .id;
    }
    return dispatcher
        .poll(executor, new Poll(++polls, true, true), Duration.ofSeconds(30))
        .thenApplyAsync(
            answer -> {
              Work work = assertInstanceOf(PollAnswer.Some.class, answer).work();
              end(work, value);
              return work;
            });
  }

  private void end(Work work, String value) {
    try {
      String now = Instant.now().toString();
      String usage = "\"usage\": {\"cpu_seconds\": 0.1, \"max_memory_bytes\": 1}";
      String last =
          value == null
              ? "\"type\": \"failed\", \"state\": \"failed\", \"reason\": \"exception\", \"message\": \"KeyError: 'secret'\", "
                  + "\"error\": {\"type\": \"KeyError\", \"message\": \"'secret'\", \"traceback\": \"line 7\"}"
              : "\"type\": \"returned\", \"value\": " + mapper.writeValueAsString(value);
      intake.take(
          executor,
          work.executionId(),
          List.of(
              frame("{\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}".formatted(now)),
              frame(
                  "{\"seq\": 2, %s, \"time\": \"%s\", \"logs_truncated\": false, %s}"
                      .formatted(last, now, usage))));
      dispatcher.heard(executor, work.executionId(), true);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private Frame frame(String text) {
    return Frame.parse(mapper, text);
  }

  private static Work of(CompletableFuture<Work> execution) {
    return execution.orTimeout(20, TimeUnit.SECONDS).join();
  }

  private static byte[] hmac(byte[] key, String text) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String github(String secret, String body) throws Exception {
    return "sha256="
        + HexFormat.of().formatHex(hmac(secret.getBytes(StandardCharsets.UTF_8), body));
  }

  private static void assertUnauthenticated(Answer answer) {
    assertEquals(401, answer.status(), answer.text());
    assertEquals("unauthenticated", answer.get("code"));
    assertTrue(answer.header("WWW-Authenticate").startsWith("Bearer"));
    assertSandboxed(answer);
  }

  private static void assertSandboxed(Answer answer) {
    String policy = answer.header("Content-Security-Policy");
    assertTrue(policy.contains("sandbox") && policy.contains("default-src 'none'"), policy);
    assertEquals("nosniff", answer.header("X-Content-Type-Options"));
    assertEquals("no-referrer", answer.header("Referrer-Policy"));
    assertNull(answer.header("Set-Cookie"));
    assertNotNull(answer.header("X-Request-Id"));
  }

  @Test
  void anAgentHasAUrlWhenItIsGivenOne() {
    String path = "/v1/agents/" + agent + "/url";
    assertEquals(404, api.get(path).status());
    assertEquals(404, api.delete(path).status());
    assertEquals(404, api.post(run(), "1").status());
    Answer created = put("{}");
    assertEquals(201, created.status(), created.text());
    assertEquals("/run/" + name, created.get("url"));
    assertEquals(List.of("POST"), created.get("methods"));
    assertEquals("key", created.get("authentication"));
    assertEquals("wait", created.get("mode"));
    assertEquals("json", created.get("format"));
    assertEquals(30, (int) created.get("wait_seconds"));
    put(200, "{\"mode\": \"accept\"}");
    assertEquals("accept", Api.as(Role.READ).get(path).get("mode"));
    assertEquals(403, Api.as(Role.EXECUTE).put(path, "{}").status());
    assertEquals(403, Api.as(Role.EXECUTE).delete(path).status());
    assertEquals(202, api.post(run(), "1").status());
    assertEquals(204, api.delete(path).status());
    assertEquals(404, api.post(run(), "1").status());
    put(201, "{}");
    assertEquals(204, api.delete("/v1/agents/" + agent).status());
    assertEquals(0, rows.count("agent_url where agent_id = ?", agent));
    assertEquals(404, api.post(run(), "1").status());
    assertEquals(404, api.get(path).status());
    assertEquals(404, put("{}").status());
  }

  @Test
  void allMistakesAreReportedAtOnce() {
    Answer answer =
        put(
            """
            {"methods": ["TRACE"], "mode": "later", "format": "xml", "authentication": "public", "signature_scheme": "github",
             "cors_origins": ["https://a.example/"], "wait_seconds": 61, "secrets": "x"}""");
    assertEquals(422, answer.status(), answer.text());
    assertEquals(
        List.of(
            "/methods",
            "/mode",
            "/format",
            "/signature_scheme",
            "/cors_origins/0",
            "/requests_per_minute",
            "/wait_seconds",
            "/secrets"),
        answer.get("errors.pointer"));
    for (String fields :
        List.of(
            "{\"methods\": []}",
            "{\"authentication\": \"signature\"}",
            "{\"authentication\": \"signature\", \"signature_scheme\": \"github\"}",
            "{\"authentication\": \"signature\", \"signature_scheme\": \"github\", \"secret\": \"short\"}",
            "{\"authentication\": \"signature\", \"signature_scheme\": \"standard_webhooks\", \"secret\": \"whsec_AA==\"}",
            "{\"secret\": \"0123456789abcdef\"}",
            "{\"authentication\": \"public\", \"requests_per_minute\": 0}",
            "{\"authentication\": null}")) {
      put(422, fields);
    }
    assertEquals(400, put("{").status());
  }

  @Test
  void withoutWhatItRequiresNobodyLearnsWhichAgentsHaveAUrl() {
    put(201, "{}");
    Answer refused = stranger.post(run(), "1");
    assertUnauthenticated(refused);
    String detail = refused.get("detail");
    for (String other : List.of("/run/nobody", "/run/", "/run", "/run/a%00b", run() + "/more")) {
      Answer unknown = stranger.post(other, "1");
      assertUnauthenticated(unknown);
      assertEquals(detail, unknown.get("detail"), other);
    }
    assertEquals(detail, Api.withKey("roost_a_b").post(run(), "1").get("detail"));
    assertEquals(detail, Api.withKey("roost_a_b").post("/run/nobody", "1").get("detail"));
    assertEquals(403, Api.as(Role.READ).post(run(), "1").status());
    assertEquals(404, api.post("/run/nobody", "1").status());
    assertEquals(404, api.post(run() + "/more", "1").status());
    assertEquals(0, jobs());
  }

  /** Pages of the dashboard's origin can't use its session here. */
  @Test
  void theSessionOfTheDashboardIsNoCredential() {
    put(201, "{}");
    Answer session = stranger.post("/v1/session", "{\"key\": \"" + api.key() + "\"}");
    String cookie = session.header("Set-Cookie").split(";")[0];
    String token = session.get("page_token");
    assertNotNull(token, session.text());
    assertUnauthenticated(
        stranger.post(
            run(),
            "1",
            "Cookie",
            cookie,
            "Roost-Page-Token",
            token,
            "Sec-Fetch-Site",
            "same-origin"));
  }

  @Test
  void methodsThatTheUrlDoesNotTakeAreRefused() {
    put(201, "{\"methods\": [\"GET\", \"PUT\"], \"mode\": \"accept\"}");
    Answer refused = api.post(run(), "1");
    assertEquals(405, refused.status(), refused.text());
    assertEquals("GET, PUT, HEAD", refused.header("Allow"));
    assertSandboxed(refused);
    assertEquals(405, api.send("OPTIONS", run(), null).status());
    assertEquals(202, api.put(run(), "1").status());
    assertEquals(202, api.get(run() + "?a=b%20c").status());
    assertEquals("{\"a\":\"b c\"}", payload());
    Answer head = api.send("HEAD", run(), null);
    assertEquals(202, head.status());
    assertEquals("", head.text());
    assertEquals("{}", payload());
  }

  @Test
  void theReturnValueIsTheResponse() {
    put(201, "{}");
    CompletableFuture<Work> execution = returning("{\"total\": 1.10}");
    Answer answer = api.post(run(), "{\"a\": 1.10}");
    assertEquals(200, answer.status(), answer.text());
    assertEquals("{\"total\": 1.10}", answer.text());
    assertEquals("application/json", answer.header("Content-Type"));
    assertEquals("no-store", answer.header("Cache-Control"));
    assertSandboxed(answer);
    of(execution);
    assertEquals("{\"a\": 1.10}", payload());
    execution = returning("null");
    answer = api.send("POST", run(), null);
    assertEquals("null", answer.text());
    assertNull(payload());
    of(execution);
  }

  @Test
  void aRedeliveryGetsTheSameResult() {
    put(201, "{}");
    CompletableFuture<Work> execution = returning("[1]");
    assertEquals("[1]", api.post(run(), "1", "webhook-id", "m").text());
    of(execution);
    Answer again = api.post(run(), "1", "webhook-id", "m");
    assertEquals(200, again.status(), again.text());
    assertEquals("[1]", again.text());
    assertEquals(1, jobs());
    put(200, "{\"wait_seconds\": 1}");
    String job = api.post(run(), "1", "webhook-id", "n").get("id");
    Answer waiting = api.post(run(), "1", "webhook-id", "n");
    assertEquals(202, waiting.status(), waiting.text());
    assertEquals(job, waiting.get("id"));
  }

  @Test
  void anAgentThatFailsIsABadGatewayAndStrangersLearnNothingMore() {
    put(201, "{}");
    CompletableFuture<Work> execution = returning(null);
    Answer answer = api.post(run(), "1");
    assertEquals(502, answer.status(), answer.text());
    assertEquals("agent_failed", answer.get("code"));
    assertTrue(answer.<String>get("detail").contains("KeyError: 'secret'"), answer.text());
    assertFalse(answer.text().contains("line 7"), answer.text());
    assertSandboxed(answer);
    String job = of(execution).executorJobId();
    assertTrue(answer.text().contains(job));
    put(200, "{\"authentication\": \"public\", \"requests_per_minute\": 100}");
    execution = returning(null);
    answer = stranger.post(run(), "1");
    assertEquals(502, answer.status(), answer.text());
    assertTrue(answer.text().contains(of(execution).executorJobId()), answer.text());
    assertFalse(answer.text().contains("KeyError"), answer.text());
  }

  @Test
  void aJobThatTakesLongerThanTheUrlWaitsContinues() {
    put(201, "{\"wait_seconds\": 1}");
    Answer answer = api.post(run(), "1");
    assertEquals(202, answer.status(), answer.text());
    String job = answer.get("id");
    assertEquals("/v1/executor-jobs/" + job, answer.header("Location"));
    assertEquals("queued", api.get("/v1/executor-jobs/" + job).get("state"));
  }

  @Test
  void deliveriesOfGitHubAreAcceptedOnceAndForgedOnesRefused() throws Exception {
    Answer created =
        put(
            """
            {"authentication": "signature", "signature_scheme": "github", "secret": "%s", "mode": "accept"}"""
                .formatted(SECRET));
    assertEquals(SECRET, created.get("secret"));
    assertFalse(api.get("/v1/agents/" + agent + "/url").text().contains("Secret"));
    assertFalse(
        put("{\"authentication\": \"signature\", \"signature_scheme\": \"github\", \"mode\": \"accept\"}")
            .text()
            .contains("Secret to"));
    String body = "{\"zen\": \"Keep it logically awesome.\"}";
    String[] headers = {
      "X-GitHub-Event", "ping",
      "X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "X-Hub-Signature-256", github(SECRET, body)
    };
    Answer delivered = stranger.post(run(), body, headers);
    assertEquals(202, delivered.status(), delivered.text());
    assertNull(delivered.header("Location"));
    assertEquals(body, payload());
    Answer again = stranger.post(run(), body, headers);
    assertEquals(202, again.status(), again.text());
    assertEquals(delivered.<String>get("id"), again.get("id"));
    assertEquals(1, jobs());

    assertUnauthenticated(stranger.post(run(), body + " ", headers));
    headers[5] = github("another secret, of somebody else", body);
    assertUnauthenticated(stranger.post(run(), body, headers));
    assertUnauthenticated(stranger.post(run(), body));
    assertUnauthenticated(api.post(run(), body));
    assertUnauthenticated(stranger.get(run()));
    headers[5] = github(SECRET, "");
    assertEquals(405, stranger.send("PUT", run(), null, headers).status());
    assertEquals(1, jobs());
  }

  @Test
  void theSecretBeforeIsValidAsLongAsTheChangeSays() throws Exception {
    String signed =
        "{\"authentication\": \"signature\", \"signature_scheme\": \"github\", \"secret\": \"%s\"%s}";
    String later = "another secret, for later";
    put(signed.formatted(SECRET, ", \"mode\": \"accept\""));
    Answer changed =
        put(signed.formatted(later, ", \"mode\": \"accept\", \"previous_secret_seconds\": 3600"));
    assertNotNull(changed.get("previous_secret_until"));
    assertEquals(202, signed(SECRET, "{\"n\": 1}"));
    assertEquals(202, signed(later, "{\"n\": 2}"));
    assertEquals(401, signed("a secret of somebody else", "{\"n\": 3}"));
    // What leaves the secret as it is leaves the one before, too.
    put(
        "{\"authentication\": \"signature\", \"signature_scheme\": \"github\", \"mode\": \"accept\"}");
    assertEquals(202, signed(SECRET, "{\"n\": 4}"));
    rows.run(
        "update agent_url set previous_secret_until = now() - interval '1 second' where agent_id = ?",
        agent);
    assertEquals(401, signed(SECRET, "{\"n\": 5}"));
    put(signed.formatted(SECRET, ", \"mode\": \"accept\""));
    assertEquals(401, signed(later, "{\"n\": 6}"));
    assertNull(api.get("/v1/agents/" + agent + "/url").get("previous_secret_until"));
    Answer alone =
        put(
            "{\"authentication\": \"signature\", \"signature_scheme\": \"github\", \"previous_secret_seconds\": 1}");
    assertEquals(List.of("/previous_secret_seconds"), alone.get("errors.pointer"));
    Answer week = put(signed.formatted(later, ", \"previous_secret_seconds\": 604801"));
    assertEquals(422, week.status(), week.text());
  }

  private int signed(String secret, String body) throws Exception {
    return stranger.post(run(), body, "X-Hub-Signature-256", github(secret, body)).status();
  }

  @Test
  void standardWebhooksAreRefusedWhenTheyAreOld() throws Exception {
    Answer created =
        put(
            "{\"authentication\": \"signature\", \"signature_scheme\": \"standard_webhooks\", \"mode\": \"accept\"}");
    String secret = created.get("secret");
    assertEquals(202, deliver(secret, 0, "m1"));
    assertEquals(202, deliver(secret, -290, "m2"));
    assertEquals(2, jobs());
    assertEquals(202, deliver(secret, -10, "m1"));
    assertEquals(401, deliver(secret, -310, "m3"));
    assertEquals(401, deliver(secret, 310, "m4"));
    assertEquals(401, deliver("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", 0, "m5"));
    assertEquals(2, jobs());
  }

  private int deliver(String secret, int seconds, String id) throws Exception {
    String body = "{\"type\": \"invoice.paid\"}";
    String time = Long.toString(Instant.now().getEpochSecond() + seconds);
    byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
    String signature =
        "v1," + Base64.getEncoder().encodeToString(hmac(key, id + "." + time + "." + body));
    return stranger
        .post(
            run(),
            body,
            "webhook-id",
            id,
            "webhook-timestamp",
            time,
            "webhook-signature",
            signature)
        .status();
  }

  @Test
  void publicUrlsHaveALimit() {
    put(201, "{\"authentication\": \"public\", \"requests_per_minute\": 2, \"mode\": \"accept\"}");
    // A minute may end in between.
    Answer last = null;
    for (int i = 0; i < 5 && (last == null || last.status() == 202); i++) {
      last = stranger.post(run(), "1");
    }
    assertEquals(429, last.status(), last.text());
    assertTrue(Integer.parseInt(last.header("Retry-After")) <= 60);
    assertEquals("rate_limited", last.get("code"));
    assertTrue(jobs() >= 2 && jobs() <= 4);
  }

  @Test
  void strangersLearnNothingOfTheInstallation() {
    put(
        201,
        "{\"authentication\": \"public\", \"requests_per_minute\": 1000, \"mode\": \"accept\"}");
    rows.run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at, priority)
        select 'xjob_full_' || i || ?, ?, 1, 'queued', now(), 0 from generate_series(1, 10000) i""",
        agent,
        agent);
    Answer full = stranger.post(run(), "1");
    assertEquals(429, full.status(), full.text());
    assertEquals("queue_full", full.get("code"));
    assertFalse(full.text().contains("roost."), full.text());
    rows.run("delete from executor_job where agent_id = ?", agent);
  }

  @Test
  void pagesOfConfiguredOriginsMayReadResponsesAndErrors() {
    put(201, "{\"mode\": \"accept\", \"cors_origins\": [\"https://app.example\"]}");
    String[] preflight = {
      "Origin", "https://app.example",
      "Access-Control-Request-Method", "POST",
      "Access-Control-Request-Headers", "authorization,content-type"
    };
    Answer allowed = stranger.send("OPTIONS", run(), null, preflight);
    assertEquals(204, allowed.status(), allowed.text());
    assertEquals("https://app.example", allowed.header("Access-Control-Allow-Origin"));
    assertEquals("POST", allowed.header("Access-Control-Allow-Methods"));
    assertEquals("authorization,content-type", allowed.header("Access-Control-Allow-Headers"));
    assertEquals("Origin", allowed.header("Vary"));
    assertNull(allowed.header("Access-Control-Allow-Credentials"));
    preflight[1] = "https://evil.example";
    Answer refused = stranger.send("OPTIONS", run(), null, preflight);
    assertUnauthenticated(refused);
    assertNull(refused.header("Access-Control-Allow-Origin"));
    Answer error = stranger.post(run(), "1", "Origin", "https://app.example");
    assertUnauthenticated(error);
    assertEquals("https://app.example", error.header("Access-Control-Allow-Origin"));
    Answer accepted = api.post(run(), "1", "Origin", "https://app.example");
    assertEquals(202, accepted.status());
    assertEquals("https://app.example", accepted.header("Access-Control-Allow-Origin"));
    assertNull(
        api.post(run(), "1", "Origin", "https://evil.example")
            .header("Access-Control-Allow-Origin"));
    put(200, "{\"mode\": \"accept\", \"cors_origins\": [\"*\"]}");
    assertEquals(
        "*",
        api.post(run(), "1", "Origin", "https://any.example")
            .header("Access-Control-Allow-Origin"));
  }

  @Test
  void theWholeRequestGoesToTheAgentAndItsResponseBack() {
    put(201, "{\"format\": \"http\", \"methods\": [\"GET\", \"POST\"]}");
    CompletableFuture<Work> execution =
        returning(
            "{\"status\": 302, \"headers\": {\"Location\": \"https://example.org\", \"X-A\": \"b\"}, \"body\": \"é\"}");
    Answer answer =
        api.post(
            run() + "/orders/a%2Fb?x=1&x=2", "<text>", "Content-Type", "text/plain", "X-Test", "1");
    assertEquals(302, answer.status(), answer.text());
    assertEquals("https://example.org", answer.header("Location"));
    assertEquals("b", answer.header("X-A"));
    assertEquals("é", answer.text());
    assertTrue(answer.header("Content-Type").startsWith("text/plain"));
    assertSandboxed(answer);
    of(execution);
    Answer job = api.get("/v1/executor-jobs?agent_id=" + agent);
    Map<String, Object> http = job.<List<Map<String, Object>>>get("data.payload.http").get(0);
    assertEquals("POST", http.get("method"));
    assertEquals("/orders/a%2Fb", http.get("path"));
    assertEquals(Map.of("x", List.of("1", "2")), http.get("query"));
    assertEquals("<text>", http.get("body"));
    Map<?, ?> headers = (Map<?, ?>) http.get("headers");
    assertEquals("1", headers.get("x-test"));
    assertEquals("text/plain", headers.get("content-type"));
    assertNull(headers.get("authorization"));
    assertFalse(payload().contains(api.key()));
    execution = returning("{\"status\": 200, \"body_base64\": \"/wA=\"}");
    assertEquals(2, api.get(run()).http().body().length);
    of(execution);
    execution = returning("[1]");
    assertEquals("[1]", api.get(run()).text());
    of(execution);
  }

  @Test
  void theAgentAndTheOriginsVaryTheResponse() {
    put(201, "{\"format\": \"http\", \"cors_origins\": [\"https://app.example\"]}");
    CompletableFuture<Work> execution =
        returning("{\"status\": 200, \"headers\": {\"Vary\": \"Accept\"}}");
    Answer answer = api.post(run(), "1", "Origin", "https://app.example");
    assertEquals("Origin, Accept", answer.header("Vary"));
    assertEquals("*", answer.header("Access-Control-Expose-Headers"));
    of(execution);
  }

  @Test
  void returnValuesThatAreNoResponsesAreBadGateways() {
    put(201, "{\"format\": \"http\"}");
    for (String value :
        List.of(
            "{\"status\": 99}",
            "{\"status\": 200, \"headers\": {\"Set-Cookie\": \"roost_session=x\"}}",
            "{\"status\": 200, \"headers\": {\"X-A\": \"a\\r\\nSet-Cookie: b=c\"}}",
            "{\"status\": 200, \"headers\": {\"Content-Security-Policy\": \"none\"}}",
            "{\"status\": 200, \"bodi\": \"\"}")) {
      CompletableFuture<Work> execution = returning(value);
      Answer answer = api.post(run(), "1");
      assertEquals(502, answer.status(), answer.text());
      assertEquals("agent_failed", answer.get("code"));
      assertFalse(answer.<List<Object>>get("errors").isEmpty(), answer.text());
      assertSandboxed(answer);
      of(execution);
    }
  }

  @Test
  void eventsAreTakenInBothModesAndOnce() {
    put(201, "{\"mode\": \"accept\"}");
    String[] binary = {
      "ce-specversion", "1.0", "ce-id", "7", "ce-source", "/shop", "ce-type", "order.paid"
    };
    Answer first = api.post(run(), "{\"n\": 1.10}", binary);
    assertEquals(202, first.status(), first.text());
    assertEquals(
        "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/shop\",\"type\":\"order.paid\","
            + "\"datacontenttype\":\"application/json\",\"data\":{\"n\": 1.10}}",
        payload());
    assertEquals(first.<String>get("id"), api.post(run(), "{\"n\": 1.10}", binary).get("id"));
    assertEquals(1, jobs());
    String event =
        "{\"specversion\":\"1.0\",\"id\":\"8\",\"source\":\"/shop\",\"type\":\"t\",\"data\":2}";
    String type = "application/cloudevents+json";
    Answer second = api.post(run(), event, "Content-Type", type);
    assertEquals(202, second.status(), second.text());
    assertEquals(event, payload());
    assertEquals(second.<String>get("id"), api.post(run(), event, "Content-Type", type).get("id"));
    assertEquals(2, jobs());
    Answer incomplete = api.post(run(), "{}", "Content-Type", type);
    assertEquals(422, incomplete.status());
    assertEquals(
        List.of("/specversion", "/id", "/source", "/type"), incomplete.get("errors.pointer"));
    Answer lacking = api.post(run(), "{}", Arrays.copyOf(binary, 4));
    assertEquals(List.of("ce-source", "ce-type"), lacking.get("errors.pointer"));
  }

  @Test
  void anIdempotencyKeyWorksAsElsewhere() {
    put(201, "{\"mode\": \"accept\"}");
    String job = api.post(run(), "1", "Idempotency-Key", "k").get("id");
    assertEquals(job, api.post(run(), "1", "Idempotency-Key", "k").get("id"));
    Answer other = api.post(run(), "2", "Idempotency-Key", "k");
    assertEquals(422, other.status());
    assertEquals("idempotency_key_reused", other.get("code"));
    assertEquals(422, api.post(run(), "2", "Idempotency-Key", " ").status());
  }

  @Test
  void badBodiesAreRefusedWithoutAJob() {
    put(201, "{\"mode\": \"accept\"}");
    assertEquals(400, api.post(run(), "{").status());
    assertEquals(
        415, api.post(run(), "a=b", "Content-Type", "application/x-www-form-urlencoded").status());
    Answer large = api.post(run(), "\"" + "x".repeat(4_194_304) + "\"");
    assertEquals(413, large.status(), large.text());
    assertSandboxed(large);
    Answer huge = api.post(run(), "\"" + "x".repeat(5_000_000) + "\"");
    assertEquals(413, huge.status(), huge.text());
    assertEquals("close", huge.header("Connection"));
    api.patch(
        "/v1/agents/" + agent, "{\"input_schema\": {\"type\": \"object\", \"required\": [\"a\"]}}");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
    Answer mismatch = api.post(run(), "{}");
    assertEquals(422, mismatch.status(), mismatch.text());
    assertEquals(List.of("/a"), mismatch.get("errors.pointer"));
    assertEquals(0, jobs());
  }

  @Test
  void theUrlFollowsTheNameOfTheAgent() {
    put(201, "{\"mode\": \"accept\"}");
    String before = run();
    name = name + " ü/1";
    api.patch("/v1/agents/" + agent, "{\"name\": \"" + name + "\"}");
    assertEquals(404, api.post(before, "1").status());
    String url = api.get("/v1/agents/" + agent + "/url").get("url");
    assertTrue(url.endsWith("%20%C3%BC%2F1"), url);
    assertEquals(202, api.post(url, "1").status());
  }
}
