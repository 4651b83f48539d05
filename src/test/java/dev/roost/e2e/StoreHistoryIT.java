package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.history.StoreCall;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What scripts see of a store that several of them use at once is what they would see if they used
 * it one after another, whatever is killed meanwhile.
 */
@EveryRuntime
class StoreHistoryIT {
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
  @LocalOnly("the control plane does it; the other test kills pods meanwhile")
  void operationsAtOnceAreAsIfOneAfterAnother() {
    try (StoreRun run = StoreBooks.history(roost)) {
      run.awaitMore(StoreBooks.LINES_EACH * 400);
      List<StoreCall> history = StoreBooks.settleHistory(run, "nothing was killed");
      assertEquals(
          List.of(),
          history.stream().filter(one -> one.outcome() == StoreCall.Outcome.UNKNOWN).toList());
    }
  }

  @Test
  void operationsAreAsIfOneAfterAnotherWhateverIsKilled() {
    StoreKills kills = new StoreKills(roost, StoreBooks.SEED);
    try (StoreRun run = StoreBooks.history(roost)) {
      for (int kind = 0; kind < StoreKills.KINDS; kind++) {
        run.awaitMore(StoreBooks.LINES_EACH * 50);
        kills.kill(kind);
      }
      run.awaitMore(StoreBooks.LINES_EACH * 50);
      StoreBooks.settleHistory(run, kills.toString());
    }
  }

  @Test
  @LocalOnly("the control plane does it; the other test kills pods meanwhile")
  void noIncrementIsLostOrDoneTwice() {
    StoreKills kills = new StoreKills(roost, StoreBooks.SEED);
    try (StoreRun run = StoreBooks.increments(roost)) {
      for (int i = 0; i < 3; i++) {
        run.awaitMore(800);
        kills.killSomething();
      }
      run.awaitMore(800);
      StoreBooks.settleIncrements(run, 1_400, kills.toString());
    }
  }
}
