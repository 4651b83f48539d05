package dev.roost.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.history.StoreCall.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the checker must find, and what it must not; times are milliseconds. */
class CheckerTest {
  private static final long MILLI = 1_000_000;

  private final List<StoreCall> history = new ArrayList<>();

  @Test
  void operationsOneAfterAnotherAreFine() {
    done(0, 1, Read.absent("x"));
    done(2, 3, StoreWrite.of("x", 1));
    done(4, 5, Read.of("x", 1), StoreWrite.of("x", 2));
    done(6, 7, Read.of("x", 2));
    done(8, 9, StoreWrite.removal("x", 2));
    done(10, 11, Read.absent("x"));
    assertFound();
  }

  @Test
  void concurrentOperationsMayComeInAnyOrder() {
    done(0, 100, StoreWrite.of("x", 2));
    done(0, 100, StoreWrite.of("x", 1));
    done(0, 100, Read.of("x", 1));
    done(0, 100, Read.of("x", 2));
    done(0, 100, Read.absent("x"));
    assertFound();
  }

  @Test
  void aLostUpdateIsFound() {
    done(0, 1, StoreWrite.of("x", 1));
    done(2, 9, Read.of("x", 1), StoreWrite.of("x", 2));
    done(2, 9, Read.of("x", 1), StoreWrite.of("x", 3));
    assertFound("lost update");
  }

  @Test
  void aWriteSkewIsFound() {
    done(0, 1, StoreWrite.of("x", 1), StoreWrite.of("y", 2));
    done(2, 9, Read.of("x", 1), Read.of("y", 2), StoreWrite.of("x", 3));
    done(2, 9, Read.of("x", 1), Read.of("y", 2), StoreWrite.of("y", 4));
    assertFound("write skew (G2)");
  }

  @Test
  void aPhantomIsFound() {
    done(2, 9, scanned("x", 0), scanned("y", 0), StoreWrite.of("x", 3));
    done(2, 9, scanned("x", 0), scanned("y", 0), StoreWrite.of("y", 4));
    assertFound("phantom");
  }

  @Test
  void aTornTransactionIsFound() {
    done(0, 1, StoreWrite.of("x", 1), StoreWrite.of("y", 2));
    done(2, 9, StoreWrite.of("x", 3), StoreWrite.of("y", 4));
    done(2, 9, Read.of("x", 3), Read.of("y", 2));
    assertFound("read skew (G-single)");
  }

  @Test
  void aTransactionThatSeesALaterOneOnItsWayIsFound() {
    done(0, 9, Read.of("y", 2), StoreWrite.of("x", 1));
    done(0, 9, Read.of("x", 1), StoreWrite.of("y", 2));
    assertFound("circular information flow (G1c)");
  }

  @Test
  void aDirtyReadIsFound() {
    add(Outcome.FAILED, 0, 5, StoreWrite.of("x", StoreCall.UNSEEN, "a"));
    done(2, 9, Read.value("x", "a"));
    assertFound("dirty read");
  }

  @Test
  void aReadOfNothingWrittenIsFound() {
    done(2, 9, Read.of("x", 7));
    assertFound("read of nothing written");
  }

  @Test
  void aStaleReadIsFound() {
    done(0, 1, StoreWrite.of("x", 1));
    done(2, 3, StoreWrite.of("x", 2));
    done(4, 5, Read.of("x", 1));
    assertFound("stale read");
  }

  @Test
  void anAbsenceAfterAWriteIsFound() {
    done(0, 1, StoreWrite.of("x", 1));
    done(4, 5, Read.absent("x"));
    assertFound("entry disappeared");
  }

  @Test
  void versionsThatFallAreFound() {
    done(0, 1, StoreWrite.of("x", 2));
    done(2, 3, StoreWrite.of("x", 1));
    assertFound("versions that fall");
  }

  @Test
  void aVersionOfTwoWritesIsFound() {
    done(0, 1, StoreWrite.of("x", 2, "a"));
    done(2, 3, StoreWrite.of("x", 2, "b"));
    assertFound("version written twice");
  }

  @Test
  void aRemovedVersionThatIsSeenAgainIsFound() {
    done(0, 1, StoreWrite.of("x", 1, "a"));
    done(2, 3, StoreWrite.removal("x", 1));
    done(4, 5, Read.value("x", "a"));
    assertFound("read of a removed version");
  }

  @Test
  void aVersionThatIsSeenAfterARemovalOfWhoKnowsWhatIsFound() {
    done(0, 1, StoreWrite.of("x", 1, "a"));
    done(2, 3, StoreWrite.removal("x", StoreCall.UNSEEN));
    done(4, 5, Read.value("x", "a"));
    assertFound("read of a removed version");
  }

  @Test
  void twoRemovalsOfOneVersionAreFound() {
    done(0, 1, StoreWrite.of("x", 1));
    done(2, 9, StoreWrite.removal("x", 1));
    done(2, 9, StoreWrite.removal("x", 1));
    assertFound("version removed twice");
  }

  @Test
  void aRepeatedWriteThatIsDoneTwiceIsFound() {
    done(0, 9, StoreWrite.of("x", 3, "a"));
    done(2, 3, new Read("x", 1, "a", false));
    assertFound("write applied twice");
  }

  @Test
  void aReadBeforeItsWriteIsFound() {
    done(0, 1, Read.of("x", 1));
    done(2, 3, StoreWrite.of("x", 1));
    assertFound("read of a later write");
  }

  @Test
  void anIncrementThatIsDoneTwiceIsFound() {
    done(0, 1, Read.absent("n"), StoreWrite.of("n", 1));
    done(2, 3, Read.of("n", 2), StoreWrite.of("n", 3));
    assertFound("read of nothing written");
  }

  @Test
  void anUnknownIncrementMayHaveHappened() {
    done(0, 1, Read.absent("n"), StoreWrite.of("n", 1));
    unknown(1, StoreWrite.of("n", StoreCall.UNSEEN));
    done(2, 3, Read.of("n", 2), StoreWrite.of("n", 3));
    assertFound();
    done(4, 5, Read.of("n", 4), StoreWrite.of("n", 5));
    assertFound("read of nothing written");
  }

  @Test
  void anUnknownWriteMayHappenLateOrNever() {
    unknown(0, StoreWrite.of("x", StoreCall.UNSEEN, "a"));
    unknown(0, StoreWrite.of("x", StoreCall.UNSEEN, "b"));
    done(2, 3, Read.absent("x"));
    done(4, 5, new Read("x", 7, "a", false));
    assertFound();
  }

  @Test
  void anUnknownTransactionThatWasSeenHasHappenedAsAWhole() {
    done(0, 1, StoreWrite.of("x", 1), StoreWrite.of("y", 2));
    unknown(2, Read.of("x", 1), StoreWrite.of("y", StoreCall.UNSEEN, "a"));
    done(3, 4, StoreWrite.of("x", 3));
    done(5, 6, Read.of("y", 2));
    assertFound();
    done(7, 8, new Read("y", 4, "a", false));
    assertFound("write skew (G2)");
  }

  @Test
  void anUnknownRemovalMayExplainAnAbsence() {
    done(0, 1, StoreWrite.of("x", 1));
    unknown(2, StoreWrite.removal("x", StoreCall.UNSEEN));
    done(3, 4, Read.of("x", 1));
    done(5, 6, Read.absent("x"));
    assertFound();
    done(7, 8, Read.of("x", 1));
    assertTrue(names().contains("absence that fits nowhere") || names().size() == 1, names() + "");
  }

  @Test
  void entriesExpireInTheirTime() {
    done(0, 1, StoreWrite.expiring("x", 1, "a", 100 * MILLI));
    done(50, 51, Read.of("x", 1));
    done(99, 105, Read.of("x", 1));
    done(102, 105, Read.absent("x"));
    done(150, 151, Read.absent("x"));
    done(160, 161, StoreWrite.of("x", 2));
    done(170, 171, Read.of("x", 2));
    assertFound();
  }

  @Test
  void anEntryThatIsSeenAfterItsExpiryIsFound() {
    done(0, 1, StoreWrite.expiring("x", 1, "a", 100 * MILLI));
    done(120, 121, Read.of("x", 1));
    assertFound("read after expiry");
  }

  @Test
  void anEntryThatGoesBeforeItsExpiryIsFound() {
    done(0, 1, StoreWrite.expiring("x", 1, "a", 100 * MILLI));
    done(50, 51, Read.absent("x"));
    assertFound("entry disappeared");
  }

  @Test
  void absencesArePlacedWhereTheyFit() {
    done(0, 1, StoreWrite.of("x", 1));
    done(2, 20, StoreWrite.removal("x", 1));
    done(2, 20, StoreWrite.of("x", 2));
    done(2, 20, StoreWrite.removal("x", 2));
    done(3, 4, Read.absent("x"));
    done(5, 6, Read.of("x", 2));
    done(7, 8, Read.absent("x"));
    assertFound();
    done(9, 10, Read.of("x", 2));
    assertEquals(1, names().size(), names()::toString);
  }

  private static Read scanned(String key, long version) {
    return new Read(key, version, null, true);
  }

  private void done(long from, long to, Object... effects) {
    add(Outcome.OK, from, to, effects);
  }

  private void unknown(long from, Object... effects) {
    add(Outcome.UNKNOWN, from, 0, effects);
  }

  private void add(Outcome outcome, long from, long to, Object... effects) {
    List<Read> reads = new ArrayList<>();
    List<StoreWrite> writes = new ArrayList<>();
    for (Object effect : effects) {
      if (effect instanceof Read read) {
        reads.add(read);
      } else {
        writes.add((StoreWrite) effect);
      }
    }
    String id = "o" + history.size();
    long returned = outcome == Outcome.UNKNOWN ? StoreCall.NEVER : to * MILLI;
    history.add(
        new StoreCall(
            id, "p" + history.size(), "does", from * MILLI, returned, outcome, reads, writes));
  }

  private List<String> names() {
    return Checker.check(history, 2 * MILLI).stream().map(Anomaly::name).toList();
  }

  private void assertFound(String... expected) {
    List<Anomaly> found = Checker.check(history, 2 * MILLI);
    assertEquals(List.of(expected), found.stream().map(Anomaly::name).toList(), found::toString);
  }
}
