package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What clients see between SIGTERM and the stop. */
@EveryRuntime
class DrainIT {
  private static final int DRAIN_SECONDS = 20;

  /** Less than the requests wait. */
  private static final int LIMIT_SECONDS = 30;

  private static final Duration SHORT = Duration.ofSeconds(2);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @Test
  void itServesOnWhileItDrainsAndCutsNobodyOff() throws Exception {
    try (RoostProcess roost = RoostProcess.prepared("ROOST_DRAIN", DRAIN_SECONDS + "s")) {
      roost.start();
      Client client = roost.client();
      String agent =
          client.agent(
              "import time\ndef main():\n    print('busy')\n    time.sleep(600)",
              "max_concurrency",
              1);
      String job = client.submit(agent, null);
      client.logged(job, "busy");
      String execution =
          client.get("/v1/executor-jobs/" + job).json().path("execution").path("id").asText();
      // A job that stays as it is: its agent has no room for it.
      String queued = client.submit(agent, null);
      CompletableFuture<HttpResponse<String>> waits =
          http.sendAsync(
              request(roost, "/v1/executor-jobs/" + queued + "?wait=60", null),
              HttpResponse.BodyHandlers.ofString());
      CompletableFuture<HttpResponse<String>> sees =
          http.sendAsync(
              request(roost, "/v1/executor-jobs/" + job + "?wait=60", null),
              HttpResponse.BodyHandlers.ofString());
      CompletableFuture<HttpResponse<String>> follows =
          http.sendAsync(
              request(roost, "/v1/executions/" + execution + "/logs", "text/event-stream"),
              HttpResponse.BodyHandlers.ofString());
      Eventually.until("it is ready", () -> ready(roost) == 200);

      Machine.signal(roost.pid(), "TERM");
      Eventually.until("it is not ready", () -> ready(roost) == 503);
      assertEquals(
          200,
          http.send(request(roost, "/v1/agents", null), HttpResponse.BodyHandlers.ofString())
              .statusCode());
      assertFalse(waits.isDone() || sees.isDone(), "who waits isn't sent away at once");
      client.send("POST", "/v1/executor-jobs/" + job + "/cancel", null).expect(200);
      assertTrue(
          sees.get(LIMIT_SECONDS, TimeUnit.SECONDS).body().contains("\"state\":\"cancelled\""),
          "what ends meanwhile is answered");
      assertFalse(waits.isDone());
      HttpResponse<String> answer = waits.get(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertEquals(200, answer.statusCode());
      assertEquals("close", answer.headers().firstValue("Connection").orElse(""));
      assertTrue(follows.get(LIMIT_SECONDS, TimeUnit.SECONDS).body().contains("busy"));
      assertEquals("", roost.errors());

      assertTrue(Set.of(0, 143).contains(roost.exitStatus()));
      roost.set("ROOST_DRAIN", SHORT.toSeconds() + "s");
      roost.start();
      long began = System.nanoTime();
      assertTrue(Set.of(0, 143).contains(roost.terminate()));
      assertTrue(System.nanoTime() - began >= SHORT.toNanos());
      assertEquals("", roost.errors());
    }
  }

  private int ready(RoostProcess roost) {
    try {
      return http.send(
              HttpRequest.newBuilder(URI.create(roost.url() + "/q/health/ready")).build(),
              HttpResponse.BodyHandlers.ofString())
          .statusCode();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static HttpRequest request(RoostProcess roost, String path, String accept) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(roost.url() + path))
            .header("Authorization", "Bearer " + roost.key());
    if (accept != null) {
      request.header("Accept", accept);
    }
    return request.build();
  }
}
