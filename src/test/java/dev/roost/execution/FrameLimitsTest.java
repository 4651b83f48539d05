package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.log.LogEntry;
import dev.roost.state.ExecutionState;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FrameLimitsTest {
  private static final Instant TIME = Instant.parse("2026-11-23T03:00:00Z");
  private static final FrameLimits LIMITS = new FrameLimits(40, 10, 100, 20);

  private static LogEntry entry(int seq, String message) {
    return new LogEntry(seq, TIME, "stdout", null, null, message, false);
  }

  private static List<LogEntry> entries(int first, int count, String message) {
    return IntStream.range(first, first + count).mapToObj(seq -> entry(seq, message)).toList();
  }

  private static Outcome returned(String value) {
    return new Outcome(ExecutionState.SUCCEEDED, null, null, null, value, false, 0.1, 1L, TIME);
  }

  @Test
  void whatIsWithinTheLimitsIsStoredAsItIs() {
    List<LogEntry> entries = entries(1, 10, "123456789");
    FrameLimits.Admitted admitted = LIMITS.admit(0, 0, entries);
    assertEquals(new FrameLimits.Admitted(entries, 100, false), admitted);
    assertSame(entries.get(0), admitted.entries().get(0));
    // What is no UTF-8 is one character for each byte that the script wrote.
    assertFalse(LIMITS.admit(0, 0, entries(1, 10, "\ufffd".repeat(9))).cut());
    Outcome outcome = returned("\"" + "x".repeat(38) + "\"");
    assertSame(outcome, LIMITS.bounded(outcome));
  }

  @Test
  void theFirstEntryBeyondTheLimitSaysSoAndNoneFollows() {
    FrameLimits.Admitted admitted = LIMITS.admit(80, 4, entries(5, 4, "123456789"));
    assertTrue(admitted.cut());
    assertEquals(120, admitted.bytes());
    assertEquals(
        List.of(
            entry(5, "123456789"),
            entry(6, "123456789"),
            new LogEntry(7, TIME, "system", null, null, FrameLimits.CUT, false)),
        admitted.entries());
    FrameLimits.Admitted later = LIMITS.admit(120, 8, entries(9, 3, "x"));
    assertEquals(List.of(), later.entries());
    assertTrue(later.cut());
  }

  @Test
  void emptyLinesAreCountedToo() {
    FrameLimits.Admitted admitted = LIMITS.admit(15, 15, entries(16, 10, ""));
    assertEquals(6, admitted.entries().size());
    assertEquals(FrameLimits.CUT, admitted.entries().get(5).message());
    assertEquals(List.of(), LIMITS.admit(25, 25, entries(26, 10, "")).entries());
  }

  @Test
  void aLongLineAndALongNameAreCut() {
    LogEntry entry =
        new LogEntry(
            1, TIME, "logging", "x".repeat(5_000), "y".repeat(5_000), "12345678🚀🚀", false);
    LogEntry stored = LIMITS.admit(0, 0, List.of(entry)).entries().get(0);
    assertEquals("12345678🚀", stored.message());
    assertEquals(1_000, stored.level().length());
    assertEquals(1_000, stored.logger().length());
    assertEquals("123456789", FrameLimits.bounded("123456789🚀", 10), "no half of a pair");
  }

  @Test
  void aReturnValueThatIsTooLargeIsAFailure() {
    Outcome outcome = LIMITS.bounded(returned("\"" + "é".repeat(20) + "\""));
    assertEquals(ExecutionState.FAILED, outcome.state());
    assertEquals(ExecutionReason.RETURN_VALUE_TOO_LARGE, outcome.reason());
    assertEquals(
        "the return value is 42 bytes of JSON; the limit is 40. Store large results elsewhere and return a reference",
        outcome.message());
    assertEquals(null, outcome.returnValue());
  }
}
