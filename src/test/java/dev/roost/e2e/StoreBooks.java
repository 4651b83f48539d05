package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.history.Anomaly;
import dev.roost.history.Checker;
import dev.roost.history.StoreCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** What executions did with a store, and what must be true of it: to be balanced at the end. */
final class StoreBooks {
  static final long SEED = Long.getLong("store.seed", 1);

  /** Executions at once on one store. */
  static final int HISTORY_EXECUTIONS = Integer.getInteger("store.executions", 6);

  static final int INCREMENT_EXECUTIONS = 8;

  /** A line before, one in the middle and one after each operation, roughly. */
  static final int LINES_EACH = 3;

  /** By which an expiry may be early or late: what two clocks of a machine differ by. */
  private static final long SLACK_NANOS = 5_000_000;

  private StoreBooks() {}

  /** Random operations, which go on until they are {@link #settleHistory settled}. */
  static StoreRun history(RoostProcess roost) {
    return new StoreRun(roost.client(), StoreRun.script("history.py"), HISTORY_EXECUTIONS, SEED);
  }

  /** Increments of one counter, which go on until they are {@link #settleIncrements settled}. */
  static StoreRun increments(RoostProcess roost) {
    return new StoreRun(
        roost.client(), StoreRun.script("increments.py"), INCREMENT_EXECUTIONS, SEED);
  }

  /** Ends them; what each of them saw and did fits into one order. */
  static List<StoreCall> settleHistory(StoreRun run, String faults) {
    JsonNode last = run.end();
    List<String> lines = run.sink.lines();
    List<StoreCall> history = HistoryLines.parse(lines);
    long blind = count(history, StoreCall.Outcome.OK);
    long unknown = count(history, StoreCall.Outcome.UNKNOWN);
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

  /** Ends them; the counter is what was acknowledged, and at most what nobody knows more. */
  static void settleIncrements(StoreRun run, int least, String faults) {
    int counter = run.end().asInt();
    List<String> numbers = of(run, "done ");
    int tried = of(run, "tries ").size();
    System.out.printf(
        "Increments (seed %d): %d tried, %d acknowledged, the counter is %d, %s%n",
        SEED, tried, numbers.size(), counter, faults);
    assertTrue(numbers.size() >= least, numbers.size() + " acknowledged");
    assertEquals(
        numbers.size(),
        numbers.stream().map(line -> line.substring(line.lastIndexOf(' '))).distinct().count(),
        "each was told another number");
    assertTrue(counter >= numbers.size(), "lost: " + (numbers.size() - counter));
    assertTrue(counter <= tried, "done twice: " + (counter - tried));
  }

  private static List<String> of(StoreRun run, String event) {
    return run.sink.lines().stream().filter(line -> line.startsWith(event)).toList();
  }

  private static long count(List<StoreCall> history, StoreCall.Outcome outcome) {
    return history.stream()
        .filter(one -> one.what().equals("blind_increment") && one.outcome() == outcome)
        .count();
  }

  private static String summary(List<StoreCall> history) {
    return history.size()
        + " operations "
        + history.stream()
            .collect(Collectors.groupingBy(StoreCall::outcome, Collectors.counting()));
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
