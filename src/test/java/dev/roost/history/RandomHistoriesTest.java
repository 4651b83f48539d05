package dev.roost.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.history.StoreCall.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The checker on histories of a store that is right, and on the same with one read changed. */
class RandomHistoriesTest {
  private static final int HISTORIES = 100;
  private static final int OPERATIONS = 300;
  private static final long SLACK = 1_000;

  @Test
  void whatASerialStoreDoesIsAccepted() {
    for (long seed = 0; seed < HISTORIES; seed++) {
      List<StoreCall> history = new SerialModel(seed).run(OPERATIONS);
      assertEquals(List.of(), Checker.check(history, SLACK), "seed " + seed);
    }
  }

  @Test
  void oneWrongReadIsNearlyAlwaysRefused() {
    int refused = 0;
    int changed = 0;
    for (long seed = 0; seed < HISTORIES; seed++) {
      List<StoreCall> history = new ArrayList<>(new SerialModel(seed).run(OPERATIONS));
      if (changeOneRead(history, new Random(seed))) {
        changed++;
        refused += Checker.check(history, SLACK).isEmpty() ? 0 : 1;
      }
    }
    assertTrue(changed > HISTORIES * 9 / 10, "changed " + changed);
    assertTrue(refused >= changed * 8 / 10, "refused " + refused + " of " + changed);
  }

  @Test
  void thousandsOfOperationsAreCheckedSoon() {
    List<StoreCall> history = new SerialModel(7).run(4_000);
    long begin = System.nanoTime();
    assertEquals(List.of(), Checker.check(history, SLACK));
    long seconds = (System.nanoTime() - begin) / 1_000_000_000;
    assertTrue(seconds < 30, seconds + " s");
  }

  /** A read shows what another read of the same key showed, or an absence. */
  private static boolean changeOneRead(List<StoreCall> history, Random random) {
    for (int attempt = 0; attempt < 1_000; attempt++) {
      int at = random.nextInt(history.size());
      StoreCall one = history.get(at);
      StoreCall other = history.get(random.nextInt(history.size()));
      if (one.outcome() == Outcome.OK && !one.reads().isEmpty() && one.writes().isEmpty()) {
        int which = random.nextInt(one.reads().size());
        Read old = one.reads().get(which);
        for (Read read : other.reads()) {
          boolean differs = read.version() != old.version() && other.outcome() == Outcome.OK;
          boolean hidden = read.version() == StoreCall.UNSEEN || old.version() == StoreCall.UNSEEN;
          if (read.key().equals(old.key()) && differs && !hidden) {
            List<Read> reads = new ArrayList<>(one.reads());
            reads.set(which, read);
            history.set(at, one.with(reads, one.writes()));
            return true;
          }
        }
      }
    }
    return false;
  }
}
