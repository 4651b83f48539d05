package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random kills under a steady stream of executions, then the books are balanced. */
@Tag("soak")
@LocalOnly("it kills processes of this machine")
class SoakIT {
  private static final int KILLS = Integer.getInteger("soak.kills", 200);
  private static final long SEED = Long.getLong("soak.seed", 1);
  private static final int AGENTS = 3;
  private static final int ORDERS_BETWEEN_KILLS = 6;
  private static final int MAX_OPEN = 30;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Random random = new Random(SEED);
  private final ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();
  private final Map<String, Integer> tally = new TreeMap<>();
  private final List<String> mistakes = new ArrayList<>();
  private volatile boolean over;

  @Test
  void nothingAcknowledgedIsLostWhateverIsKilled() throws Exception {
    try (RoostProcess roost = RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "12")) {
      Client client = roost.client();
      List<String> agents = new ArrayList<>();
      for (int i = 0; i < AGENTS; i++) {
        agents.add(
            client.agent(
                Numbered.SCRIPT,
                "max_concurrency",
                4,
                "max_attempts",
                10,
                "retry_delay",
                0.05,
                "keep_warm",
                5 + i));
      }
      CompletableFuture<Void> stream = CompletableFuture.runAsync(() -> order(client, agents));
      for (int i = 0; i < KILLS; i++) {
        int before = acknowledged.size();
        Await.until(
            "orders are taken",
            LIMIT,
            () -> acknowledged.size() >= before + ORDERS_BETWEEN_KILLS || stream.isDone());
        killSomething(roost);
      }
      over = true;
      stream.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      acknowledged.forEach(job -> settle(client, job));
      for (String resource : List.of("executions", "executor-jobs")) {
        JsonNode running = client.get("/v1/" + resource + "?state=running").expect(200).json();
        assertEquals(0, running.path("data").size(), resource);
      }
      roost.terminate();
      count("processes left", roost.processes().size());
      System.out.println("Soak (seed " + SEED + "): " + tally);
      assertEquals(List.of(), mistakes);
      assertEquals(List.of(), roost.processes());
      assertEquals(tally.get("acknowledged"), tally.get("succeeded"));
    }
  }

  /** Keeps executions coming; an order without an answer is sent again with the same key. */
  private void order(Client client, List<String> agents) {
    for (int number = 0; !over; number++) {
      String agent = agents.get(number % agents.size());
      String name = "order-" + number;
      String payload = Numbered.payload(name, 20 + number % 60, 0.01, null);
      acknowledged.add(
          Await.value("an answer to " + name, LIMIT, () -> place(client, agent, name, payload)));
      if (number % MAX_OPEN == MAX_OPEN - 1) {
        String earlier = List.copyOf(acknowledged).get(number - MAX_OPEN + 1);
        client.ended(earlier, LIMIT); // no faster than the machine can follow
      }
    }
  }

  private static Optional<String> place(Client client, String agent, String name, String payload) {
    Answer answer =
        client.post(
            "/v1/agents/" + agent + "/execute",
            "{\"payload\": " + payload + "}",
            "Idempotency-Key",
            name);
    if (answer.status() == 503) {
      assertTrue(answer.header("Retry-After") != null, answer.text());
      return Optional.empty();
    }
    assertTrue(answer.status() == 201 || answer.status() == 200, answer.text());
    return Optional.of(answer.json().path("id").asText());
  }

  private void killSomething(RoostProcess roost) {
    switch (random.nextInt(4)) {
      case 0 -> {
        count("killed control planes", 1);
        roost.kill9();
        roost.start();
      }
      case 1 -> {
        Machine.Running postmaster = Await.value("PostgreSQL runs", roost::findPostmaster);
        count("killed databases", 1);
        postmaster.signal("KILL");
      }
      case 2 -> killOne("runners", roost.runners());
      default -> killOne("sidecars", roost.sidecars());
    }
  }

  private void killOne(String kind, List<Machine.Running> choices) {
    if (!choices.isEmpty()) {
      count("killed " + kind, 1);
      choices.get(random.nextInt(choices.size())).signal("KILL");
    }
  }

  private void settle(Client client, String jobId) {
    JsonNode job = client.ended(jobId, LIMIT);
    count("acknowledged", 1);
    count(job.path("state").asText(), 1);
    Numbered.mistakes(client, job).forEach(mistake -> mistakes.add(jobId + ": " + mistake));
    JsonNode executions = client.get("/v1/executions?executor_job_id=" + jobId).expect(200).json();
    for (JsonNode execution : executions.path("data")) {
      count("executions " + execution.path("state").asText(), 1);
      int seq = 0;
      for (JsonNode entry : client.entries(execution.path("id").asText())) {
        seq++;
        String expected = "line " + seq + " of " + job.path("payload").path("name").asText();
        boolean fromScript = entry.path("stream").asText().equals("stdout");
        if (entry.path("seq").asInt() != seq
            || (fromScript && !entry.path("message").asText().equals(expected))) {
          mistakes.add(execution.path("id").asText() + ": " + entry);
        }
      }
      count("log lines", seq);
    }
  }

  private void count(String what, int more) {
    tally.merge(what, more, Integer::sum);
  }
}
