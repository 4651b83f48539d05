package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.history.Anomaly;
import dev.roost.history.Checker;
import dev.roost.history.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What scripts see of a store that several of them use at once is what they would see if they used
 * it one after another, whatever is killed meanwhile.
 */
@EveryRuntime
class StoreHistoryIT {
  private static final long SEED = Long.getLong("store.seed", 1);
  private static final int EXECUTIONS = Integer.getInteger("store.executions", 6);
  private static final int KILLS = Integer.getInteger("store.kills", 120);

  /** By which an expiry may be early or late: what two clocks of a machine differ by. */
  private static final long SLACK_NANOS = 5_000_000;

  /** A line before, one in the middle and one after each operation, roughly. */
  private static final int LINES_EACH = 3;

  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "12");
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @Test
  void operationsAtOnceAreAsIfOneAfterAnother() {
    try (StoreRun run = run()) {
      run.awaitMore(LINES_EACH * 600);
      List<Operation> history = check(run, "nothing was killed");
      assertEquals(
          List.of(),
          history.stream().filter(one -> one.outcome() == Operation.Outcome.UNKNOWN).toList());
    }
  }

  @Test
  void operationsAreAsIfOneAfterAnotherWhateverIsKilled() {
    StoreKills kills = new StoreKills(roost, SEED);
    try (StoreRun run = run()) {
      run.awaitMore(LINES_EACH * 50);
      for (int i = 0; i < 5; i++) {
        kills.kill(i);
        run.awaitMore(LINES_EACH * 50);
      }
      check(run, kills.toString());
    }
  }

  @Test
  @Tag("soak")
  void operationsAreAsIfOneAfterAnotherWhateverIsKilledForLong() {
    StoreKills kills = new StoreKills(roost, SEED);
    try (StoreRun run = run()) {
      for (int i = 0; i < KILLS; i++) {
        run.awaitMore(LINES_EACH * 60);
        kills.killSomething();
      }
      run.awaitMore(LINES_EACH * 60);
      check(run, kills.toString());
    }
  }

  private static StoreRun run() {
    return new StoreRun(roost.client(), StoreRun.script("history.py"), EXECUTIONS, SEED);
  }

  private static List<Operation> check(StoreRun run, String faults) {
    JsonNode last = run.end();
    List<String> lines = run.sink.lines();
    List<Operation> history = HistoryLines.parse(lines);
    long blind = count(history, Operation.Outcome.OK);
    long unknown = count(history, Operation.Outcome.UNKNOWN);
    System.out.println("Store history (seed " + SEED + "): " + summary(history) + ", " + faults);
    List<Anomaly> anomalies = Checker.check(history, SLACK_NANOS);
    if (!anomalies.isEmpty()) {
      throw new AssertionError(
          "seed %d, %s, all lines in %s\n%s".formatted(SEED, faults, keep(lines), anomalies));
    }
    assertEquals(0, last.path("sum").asInt(), "what was transferred between accounts");
    long counted = last.path("blind").asLong();
    assertTrue(blind <= counted && counted <= blind + unknown, blind + " + " + unknown + last);
    return history;
  }

  private static long count(List<Operation> history, Operation.Outcome outcome) {
    return history.stream()
        .filter(one -> one.what().equals("blind_increment") && one.outcome() == outcome)
        .count();
  }

  private static String summary(List<Operation> history) {
    return history.size()
        + " operations "
        + history.stream()
            .collect(Collectors.groupingBy(Operation::outcome, Collectors.counting()));
  }

  private static Path keep(List<String> lines) {
    try {
      Path directory = Files.createDirectories(Path.of("target", "e2e-logs"));
      return Files.write(Files.createTempFile(directory, "store-history-", ".jsonl"), lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
