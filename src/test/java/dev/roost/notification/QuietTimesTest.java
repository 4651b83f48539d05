package dev.roost.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.notification.QuietTimes.Day;
import dev.roost.notification.QuietTimes.Period;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuietTimesTest {
  private static final List<Day> ALL = List.of(Day.values());

  private static QuietTimes berlin(Period... periods) {
    return new QuietTimes(List.of(periods), ZoneId.of("Europe/Berlin"));
  }

  private static Instant end(QuietTimes quiet, String time) {
    return quiet.endOf(Instant.parse(time));
  }

  private static void assertEnd(String expected, QuietTimes quiet, String time) {
    assertEquals(Instant.parse(expected), end(quiet, time));
  }

  @Test
  void withoutPeriodsNoTimeIsQuiet() {
    assertEnd("2026-11-25T03:00:00Z", berlin(), "2026-11-25T03:00:00Z");
  }

  @Test
  void aNightBelongsToTheDayOnWhichItBegins() {
    // 2026-11-25 is a Wednesday; Berlin is at UTC+1.
    QuietTimes quiet = berlin(new Period(List.of(Day.WED), "22:00", "07:00"));
    assertEnd("2026-11-25T20:59:59Z", quiet, "2026-11-25T20:59:59Z");
    assertEnd("2026-11-26T06:00:00Z", quiet, "2026-11-25T21:00:00Z");
    assertEnd("2026-11-26T06:00:00Z", quiet, "2026-11-26T05:59:59Z");
    assertEnd("2026-11-26T06:00:00Z", quiet, "2026-11-26T06:00:00Z");
    assertEnd("2026-11-25T05:00:00Z", quiet, "2026-11-25T05:00:00Z"); // Of Tuesday's night.
  }

  @Test
  void periodsThatFollowEachOtherAreOne() {
    QuietTimes quiet =
        berlin(
            new Period(List.of(Day.SAT, Day.SUN), "00:00", "00:00"),
            new Period(ALL, "20:00", "08:00"));
    // From Friday evening to Monday morning.
    assertEnd("2026-11-30T07:00:00Z", quiet, "2026-11-27T20:00:00Z");
  }

  @Test
  void theEndIsByTheClockWhenSummerTimeBegins() {
    // On 2026-03-29, clocks in Berlin go from 02:00 to 03:00.
    QuietTimes night = berlin(new Period(ALL, "22:00", "07:00"));
    assertEnd("2026-03-29T05:00:00Z", night, "2026-03-28T22:00:00Z");
    QuietTimes skipped = berlin(new Period(ALL, "22:00", "02:30"));
    assertEnd("2026-03-29T01:30:00Z", skipped, "2026-03-28T22:00:00Z"); // 03:30 there
    QuietTimes nothing = berlin(new Period(ALL, "02:30", "03:30"));
    assertEnd("2026-03-29T01:30:00Z", nothing, "2026-03-29T01:30:00Z");
  }

  @Test
  void theEndIsByTheClockWhenSummerTimeEnds() {
    // On 2026-10-25, clocks in Berlin go from 03:00 to 02:00.
    QuietTimes night = berlin(new Period(ALL, "22:00", "07:00"));
    assertEnd("2026-10-25T06:00:00Z", night, "2026-10-24T20:00:00Z");
    QuietTimes twice = berlin(new Period(ALL, "22:00", "02:30"));
    assertEnd("2026-10-25T00:30:00Z", twice, "2026-10-24T21:00:00Z"); // the first 02:30
    assertEnd("2026-10-25T01:00:00Z", twice, "2026-10-25T01:00:00Z");
  }

  @Test
  void quietForEverIsNoticed() {
    Instant now = Instant.parse("2026-11-25T12:00:00Z");
    assertTrue(berlin(new Period(ALL, "00:00", "00:00")).isAlways(now));
    assertTrue(
        berlin(new Period(ALL, "08:00", "20:00"), new Period(ALL, "20:00", "08:00")).isAlways(now));
    assertFalse(berlin(new Period(ALL, "00:00", "23:59")).isAlways(now));
    assertFalse(berlin(new Period(ALL.subList(0, 6), "00:00", "00:00")).isAlways(now));
  }
}
