package dev.roost.e2e;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Thousands of operations on a store under random kills, then the books are balanced. System
 * properties: {@code store.kills} of each test, {@code store.operations}, {@code store.increments},
 * {@code store.executions}, {@code store.seed}.
 */
@Tag("soak")
@EveryRuntime
class StoreSoakIT {
  private static final int KILLS = Integer.getInteger("store.kills", 120);
  private static final int OPERATIONS = Integer.getInteger("store.operations", 8_000);
  private static final int INCREMENTS = Integer.getInteger("store.increments", 10_000);

  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "20");
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @Test
  void operationsAreAsIfOneAfterAnotherWhateverIsKilled() {
    try (StoreRun run = StoreBooks.history(roost)) {
      StoreKills kills = kill(run, StoreBooks.LINES_EACH * OPERATIONS);
      StoreBooks.settleHistory(run, kills.toString());
    }
  }

  @Test
  void noIncrementIsLostOrDoneTwice() {
    try (StoreRun run = StoreBooks.increments(roost)) {
      StoreKills kills = kill(run, 2 * INCREMENTS);
      StoreBooks.settleIncrements(run, INCREMENTS * 9 / 10, kills.toString());
    }
  }

  private static StoreKills kill(StoreRun run, int lines) {
    StoreKills kills = new StoreKills(roost, StoreBooks.SEED);
    for (int i = 0; i < KILLS; i++) {
      run.awaitMore(lines / (KILLS + 1));
      kills.killSomething();
    }
    run.awaitMore(lines / (KILLS + 1));
    return kills;
  }
}
