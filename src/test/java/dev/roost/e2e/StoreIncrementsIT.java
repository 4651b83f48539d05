package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A counter that eight executions count up equals what they were told, whatever is killed. */
@EveryRuntime
class StoreIncrementsIT {
  private static final long SEED = Long.getLong("store.seed", 1);
  private static final int EXECUTIONS = 8;

  @Test
  void noIncrementIsLostOrDoneTwice() {
    count(1_500, 4);
  }

  @Test
  @Tag("soak")
  void noneOfTenThousandIncrementsIsLostOrDoneTwice() {
    count(Integer.getInteger("store.increments", 10_000), Integer.getInteger("store.kills", 120));
  }

  private static void count(int increments, int kills) {
    try (RoostProcess roost = RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "12");
        StoreRun run =
            new StoreRun(roost.client(), StoreRun.script("increments.py"), EXECUTIONS, SEED)) {
      StoreKills faults = new StoreKills(roost, SEED);
      int lines = 2 * increments / (kills + 1); // a line before and one after
      for (int i = 0; i < kills; i++) {
        run.awaitMore(lines);
        faults.killSomething();
      }
      run.awaitMore(lines);
      int counter = run.end().asInt();
      List<String> numbers = of(run, "done ");
      int tried = of(run, "tries ").size();
      System.out.printf(
          "Increments (seed %d): %d tried, %d acknowledged, the counter is %d, %s%n",
          SEED, tried, numbers.size(), counter, faults);
      assertTrue(numbers.size() >= increments * 9 / 10, numbers.size() + " acknowledged");
      assertEquals(
          numbers.size(),
          numbers.stream().map(line -> line.substring(line.lastIndexOf(' '))).distinct().count(),
          "each was told another number");
      assertTrue(counter >= numbers.size(), "lost: " + (numbers.size() - counter));
      assertTrue(counter <= tried, "done twice: " + (counter - tried));
    }
  }

  private static List<String> of(StoreRun run, String event) {
    return run.sink.lines().stream().filter(line -> line.startsWith(event)).toList();
  }
}
