package dev.roost.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Several executions of two agents on one store that they share, which tell a {@link LineSink} what
 * they do until it says that it is enough. One that is lost is tried again.
 */
final class StoreRun implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int AGENTS = 2;
  private static final int ATTEMPTS = 10;

  final LineSink sink = new LineSink();
  private final Client client;
  private final long seed;
  private final List<String> agents = new ArrayList<>();
  private final List<String> jobs = new ArrayList<>();

  /**
   * @param script takes sink, process, seed, last; the last one to be called takes stock
   */
  StoreRun(Client client, String script, int executions, long seed) {
    this.client = client;
    this.seed = seed;
    String store = store(client);
    for (int i = 0; i < AGENTS; i++) {
      agents.add(
          client.agent(
              script,
              "store_ids",
              List.of(store),
              "max_concurrency",
              executions,
              "max_attempts",
              ATTEMPTS,
              "retry_delay",
              0.05));
    }
    for (int i = 0; i < executions; i++) {
      jobs.add(submit(i, false));
    }
  }

  static String store(Client client) {
    return client.post("/v1/datastore", "{}").expect(201).json().path("id").asText();
  }

  static String script(String name) {
    try (InputStream file = StoreRun.class.getResourceAsStream("/e2e/" + name)) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until so many more lines have come; jobs anew what has ended before its time. */
  void awaitMore(int lines) {
    int before = sink.count();
    Eventually.until(
        lines + " more lines of the scripts",
        LIMIT,
        () -> {
          boolean enough = sink.count() >= before + lines;
          if (!enough && sink.count() == before) {
            submitAgain();
          }
          return enough;
        });
  }

  private void submitAgain() {
    for (int i = 0; i < jobs.size(); i++) {
      HttpAnswer job = client.get("/v1/executor-jobs/" + jobs.get(i));
      if (job.status() == 200 && !job.json().path("finished_at").isNull()) {
        assertLostOnly(job.json());
        jobs.set(i, submit(i, false));
      }
    }
  }

  /** Tells all that it is enough, waits for their ends, and answers what the last one returns. */
  JsonNode end() {
    sink.enough();
    for (String job : jobs) {
      assertLostOnly(client.ended(job, LIMIT));
    }
    sink.awaitEnd();
    JsonNode last = client.ended(submit(jobs.size(), true), LIMIT);
    sink.awaitEnd();
    if (!last.path("state").asText().equals("succeeded")) {
      throw new AssertionError(last.toPrettyString());
    }
    return last.path("execution").path("return_value");
  }

  /** What a script itself raises is a failure of the test. */
  private void assertLostOnly(JsonNode job) {
    boolean lost = job.path("reason").asText().equals("executor_lost");
    if (!job.path("state").asText().equals("succeeded") && !lost) {
      throw new AssertionError(job.toPrettyString());
    }
  }

  private String submit(int number, boolean last) {
    String payload =
        "{\"sink\": %s, \"process\": \"p%d\", \"seed\": %d, \"last\": %s}"
            .formatted(sink.address(), number, seed, last);
    String path = "/v1/agents/" + agents.get(number % AGENTS) + "/execute";
    return Eventually.value(
        "a job is taken",
        LIMIT,
        () -> {
          HttpAnswer answer = client.post(path, "{\"payload\": " + payload + "}");
          return answer.status() == 201
              ? Optional.of(answer.json().path("id").asText())
              : Optional.empty();
        });
  }

  @Override
  public void close() {
    sink.close();
  }
}
