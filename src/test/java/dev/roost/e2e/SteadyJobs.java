package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A steady stream of {@link Numbered} executions, with an idempotency key each so that a job
 * without an answer is sent again; and the books, which are balanced at the end.
 */
final class SteadyJobs {
  private static final int MAX_OPEN = 30;

  /** What the message of each lost execution begins with; the cause follows. */
  private static final String WITHOUT_CAUSE = "The executor ended before the script did.";

  /** Imports that are worth a template, which may be killed like any other process. */
  private static final String WITH_TEMPLATE = "import sqlite3, unittest.mock, xml.dom.minidom\n";

  private final Client client;
  private final List<String> agents = new ArrayList<>();
  private final Duration limit;
  private final ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();
  private final Map<String, Integer> tally = new TreeMap<>();
  private final List<String> mistakes = new ArrayList<>();
  private final CompletableFuture<Void> stream;
  private volatile boolean over;

  /**
   * @param agents how many there are, with 4 executors each at most and 10 attempts for each job
   * @param pause seconds after each of an execution's lines
   * @param limit for an answer and for the end of a job
   */
  SteadyJobs(Client client, int agents, double pause, Duration limit) {
    this.client = client;
    this.limit = limit;
    for (int i = 0; i < agents; i++) {
      this.agents.add(
          client.agent(
              WITH_TEMPLATE + Numbered.SCRIPT,
              "max_concurrency",
              4,
              "max_attempts",
              10,
              "retry_delay",
              0.05,
              "keep_warm",
              5 + i));
    }
    this.agents.forEach(client::runsNewest); // or all jobs would fail for the same reason
    stream = CompletableFuture.runAsync(() -> submit(pause));
  }

  /** Waits until so many more jobs have been acknowledged. */
  void awaitMore(int many) {
    int enough = acknowledged.size() + many;
    Eventually.until("jobs are acknowledged", limit, () -> isBeyond(enough));
  }

  /** Waits for them for so long at most: without executors, the stream waits for open jobs. */
  void awaitMore(int many, Duration longest) {
    int enough = acknowledged.size() + many;
    long end = System.nanoTime() + longest.toNanos();
    Eventually.until("time passes", limit, () -> isBeyond(enough) || System.nanoTime() - end > 0);
  }

  private boolean isBeyond(int enough) {
    return acknowledged.size() >= enough || stream.isCompletedExceptionally();
  }

  /** Ends the stream and looks at every job that was acknowledged. */
  void settle() throws ExecutionException, InterruptedException, TimeoutException {
    over = true;
    stream.get(limit.toSeconds(), TimeUnit.SECONDS);
    acknowledged.forEach(this::settle);
    for (String resource : List.of("executions", "executor-jobs")) {
      JsonNode running = client.get("/v1/" + resource + "?state=running").expect(200).json();
      assertEquals(0, running.path("data").size(), resource);
    }
  }

  /** Every job has succeeded, and no line or value is missing, doubled or wrong. */
  void assertBalanced() {
    assertEquals(List.of(), mistakes);
    assertEquals(tally.get("acknowledged"), tally.get("succeeded"));
  }

  void count(String what, int more) {
    tally.merge(what, more, Integer::sum);
  }

  @Override
  public String toString() {
    return tally.toString();
  }

  private void submit(double pause) {
    for (int number = 0; !over; number++) {
      String agent = agents.get(number % agents.size());
      String name = "job-" + number;
      String payload = Numbered.payload(name, 20 + number % 60, pause, null);
      acknowledged.add(
          Eventually.value("an answer to " + name, limit, () -> place(agent, name, payload)));
      if (number % MAX_OPEN == MAX_OPEN - 1) {
        String earlier = List.copyOf(acknowledged).get(number - MAX_OPEN + 1);
        client.ended(earlier, limit); // no faster than the machine can follow
      }
    }
  }

  private Optional<String> place(String agent, String name, String payload) {
    HttpAnswer answer =
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

  private void settle(String jobId) {
    JsonNode job = client.ended(jobId, limit);
    count("acknowledged", 1);
    count(job.path("state").asText(), 1);
    Numbered.mistakes(client, job).forEach(mistake -> mistakes.add(jobId + ": " + mistake));
    JsonNode executions = client.get("/v1/executions?executor_job_id=" + jobId).expect(200).json();
    for (JsonNode execution : executions.path("data")) {
      String state = execution.path("state").asText();
      count("executions " + state, 1);
      if (state.equals("lost")) {
        String message = execution.path("message").asText();
        count("lost: " + message, 1);
        if (message.replace(WITHOUT_CAUSE, "").isBlank()) {
          mistakes.add(execution.path("id").asText() + " is lost without a cause");
        }
      }
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
}
