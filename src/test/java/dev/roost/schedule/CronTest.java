package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What expressions mean; how they are read is in {@link CronParseTest}, changes of clocks in {@link
 * CronZoneTest}.
 */
class CronTest {
  private static final LocalDate FIRST = LocalDate.of(2023, 1, 1);
  private static final LocalDate END = LocalDate.of(2029, 1, 1); // with two leap years

  @Test
  void isStrictlyAfterAndAWholeMinute() {
    assertEquals("2024-05-01T12:01:00Z", next("* * * * *", "2024-05-01T12:00:00Z"));
    assertEquals("2024-05-01T12:00:00Z", next("* * * * *", "2024-05-01T11:59:59.999999999Z"));
    assertEquals("2024-05-01T12:01:00Z", next("* * * * *", "2024-05-01T12:00:00.000000001Z"));
    assertEquals("2024-05-02T12:00:00Z", next("0 12 * * *", "2024-05-01T12:00:00Z"));
  }

  @ParameterizedTest
  @CsvSource({
    "'*/20 * * * *', '0,20,40 * * * *'",
    "'5/15 * * * *', '5,20,35,50 * * * *'",
    "'3-20/4 * * * *', '3,7,11,15,19 * * * *'",
    "'0 9-11,13 * * *', '0 9,10,11,13 * * *'",
    "'0 0 * jan,Mar-MAY 2', '0 0 * 1,3,4,5 tue'",
    "'0 0 * * 7', '0 0 * * 0'",
    "'0 0 * * fri-sun', '0 0 * * 0,5,6'",
    "'0 0 * * SUN-TUE', '0 0 * * 0-2'",
    "'0 0 * * 5/1', '0 0 * * 5-7'",
    "'0 0 * * 5-7/2', '0 0 * * FRI,SUN'",
    "'0 0 ? * MON', '0 0 * * MON'",
    "'0 0 13 * ?', '0 0 13 * *'",
    "'0 0 L-0 * *', '0 0 L * *'",
    "'0 0 * * 7L', '0 0 * * SUNL'",
    "'0 0 * * 0#3', '0 0 * * sun#3'",
    "'  05   04 * *\t* ', '5 4 * * *'",
    "@hourly, '0 * * * *'",
    "@daily, '0 0 * * *'",
    "@midnight, '0 0 * * *'",
    "@Weekly, '0 0 * * 0'",
    "@monthly, '0 0 1 * *'",
    "@yearly, '0 0 1 1 *'",
    "@ANNUALLY, '0 0 1 1 *'",
  })
  void canBeWrittenInDifferentWays(String one, String other) {
    assertEquals(times(other, 40), times(one, 40));
    assertEquals(Cron.parse(other).description(), Cron.parse(one).description());
  }

  @Test
  void lastDays() {
    assertDays("0 0 L * *", day -> day.equals(last(day)));
    assertDays("0 0 L-3 * *", day -> day.equals(last(day).minusDays(3)));
    assertDays("0 0 L-30 * *", day -> day.getDayOfMonth() == 1 && day.lengthOfMonth() == 31);
    assertDays("0 0 1,L * *", day -> day.getDayOfMonth() == 1 || day.equals(last(day)));
    assertDays(
        "0 0 * * FRIL",
        day -> day.equals(day.with(TemporalAdjusters.lastInMonth(DayOfWeek.FRIDAY))));
    assertDays(
        "0 0 * * 0L,MON",
        day ->
            day.getDayOfWeek() == DayOfWeek.MONDAY
                || day.equals(day.with(TemporalAdjusters.lastInMonth(DayOfWeek.SUNDAY))));
  }

  @Test
  void theNthOfAMonth() {
    assertDays(
        "0 0 * * MON#2",
        day -> day.equals(day.with(TemporalAdjusters.dayOfWeekInMonth(2, DayOfWeek.MONDAY))));
    assertDays(
        "0 0 * * 4#5", day -> day.getDayOfWeek() == DayOfWeek.THURSDAY && day.getDayOfMonth() > 28);
    assertDays(
        "0 0 * * MON#1,WED#3",
        day ->
            day.equals(day.with(TemporalAdjusters.dayOfWeekInMonth(1, DayOfWeek.MONDAY)))
                || day.equals(
                    day.with(TemporalAdjusters.dayOfWeekInMonth(3, DayOfWeek.WEDNESDAY))));
  }

  @Test
  void theNearestWeekdayStaysInItsMonth() {
    for (int number = 1; number <= 31; number++) {
      int of = number;
      assertDays("0 0 %dW * *".formatted(of), day -> day.equals(nearestWeekday(day, of)));
    }
    assertDays("0 0 LW * *", day -> day.equals(nearestWeekday(day, day.lengthOfMonth())));
  }

  /** Looks at the days around, nearest first. */
  private static LocalDate nearestWeekday(LocalDate month, int number) {
    if (number > month.lengthOfMonth()) {
      return null;
    }
    LocalDate day = month.withDayOfMonth(number);
    for (int away : new int[] {0, -1, 1, -2, 2}) {
      LocalDate near = day.plusDays(away);
      if (near.getMonth() == day.getMonth() && near.getDayOfWeek().getValue() < 6) {
        return near;
      }
    }
    throw new AssertionError("no weekday near " + day);
  }

  @Test
  void oneOfBothDaysSufficesWhenNeitherBeginsWithAStar() {
    Predicate<LocalDate> friday = day -> day.getDayOfWeek() == DayOfWeek.FRIDAY;
    Predicate<LocalDate> thirteenth = day -> day.getDayOfMonth() == 13;
    Predicate<LocalDate> odd = day -> day.getDayOfMonth() % 2 == 1;
    assertDays("0 0 13 * FRI", friday.or(thirteenth));
    assertDays("0 0 1-31/2 * FRI", friday.or(odd));
    assertDays("0 0 */2 * FRI", friday.and(odd));
    assertDays(
        "0 0 13 * */5", thirteenth.and(friday.or(day -> day.getDayOfWeek().getValue() == 7)));
    assertDays("0 0 * * FRI", friday);
    assertDays("0 0 13 * *", thirteenth);
    assertDays("0 0 1-31 * FRI", day -> true);
    assertDays("0 0 13 * 0-6", day -> true);
    assertDays("0 0 L * MON#1", day -> day.equals(last(day)) || firstMonday(day));
  }

  private static boolean firstMonday(LocalDate day) {
    return day.getDayOfWeek() == DayOfWeek.MONDAY && day.getDayOfMonth() <= 7;
  }

  @ParameterizedTest
  @CsvSource({
    "0 0 29 2 *, 2096-03-01T00:00:00Z, 2104-02-29T00:00:00Z",
    "0 0 29 2 */6, 2020-02-29T00:00:00Z, 2032-02-29T00:00:00Z", // a Saturday or Sunday
    "0 0 29 2 */6, 2088-03-01T00:00:00Z, 2116-02-29T00:00:00Z",
    "0 0 */28 2 1#5, 2072-03-01T00:00:00Z, 2112-02-29T00:00:00Z",
    "0 0 31 1/6 *, 2024-01-31T00:00:00Z, 2024-07-31T00:00:00Z",
    "59 23 31 12 *, 2024-12-31T23:59:00Z, 2025-12-31T23:59:00Z",
  })
  void whatIsRareIsFound(String expression, String after, String expected) {
    assertEquals(expected, next(expression, after));
  }

  @Test
  void whatIsRareIsFoundFast() {
    Cron rare =
        Cron.parse("*/7 * */28 2 1#5"); // a 29 February that is a Monday, on the wall's clock
    ZoneId zone = ZoneId.of("Europe/Berlin");
    assertTimeout(
        Duration.ofSeconds(60),
        () -> {
          for (int i = 0; i < 1000; i++) {
            rare.next(Instant.parse("2072-03-01T00:00:00Z").plusSeconds(i), zone).orElseThrow();
          }
        });
  }

  @Test
  void theFarthestInstantsAreNoError() {
    Cron cron = Cron.parse("0 0 1 1 *");
    Cron shown = Cron.parse("*/5 * 1 1 *");
    for (ZoneId zone : List.of(ZoneOffset.UTC, ZoneOffset.MAX, ZoneId.of("America/New_York"))) {
      assertEquals(Optional.empty(), cron.next(Instant.MAX, zone));
      assertEquals(Optional.empty(), shown.next(Instant.parse("9998-12-31T12:00:00Z"), zone));
      assertTrue(cron.next(Instant.MIN, zone).isPresent());
      assertTrue(shown.next(Instant.MIN, zone).isPresent());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0 0 30 2 *",
        "0 0 31 4,6,9,11 *",
        "0 0 30-31 FEB *",
        "0 0 31W 6 *",
        "0 0 L-30 2 *"
      })
  void whatNeverComesTrueIsNoExpression(String expression) {
    String message = assertThrows(CronException.class, () -> Cron.parse(expression)).getMessage();
    assertTrue(message.startsWith("\"" + expression + "\" never matches"), message);
  }

  private static LocalDate last(LocalDate day) {
    return day.withDayOfMonth(day.lengthOfMonth());
  }

  /** An expression of midnights comes true on these days, and on no others. */
  private static void assertDays(String expression, Predicate<LocalDate> expected) {
    List<LocalDate> days = FIRST.datesUntil(END).filter(expected).toList();
    List<LocalDate> found = new ArrayList<>();
    Cron cron = Cron.parse(expression);
    Instant time = FIRST.atStartOfDay().toInstant(ZoneOffset.UTC).minusSeconds(1);
    for (int i = 0; i <= days.size(); i++) {
      time = cron.next(time, ZoneOffset.UTC).orElseThrow();
      LocalDateTime local = LocalDateTime.ofInstant(time, ZoneOffset.UTC);
      assertEquals(local.toLocalDate().atStartOfDay(), local);
      if (local.toLocalDate().isBefore(END)) {
        found.add(local.toLocalDate());
      }
    }
    assertEquals(days, found, expression);
  }

  private static String next(String expression, String after) {
    return Cron.parse(expression)
        .next(Instant.parse(after), ZoneOffset.UTC)
        .orElseThrow()
        .toString();
  }

  private static List<Instant> times(String expression, int count) {
    List<Instant> times = new ArrayList<>();
    Instant time = Instant.parse("2024-01-31T22:30:00Z");
    for (int i = 0; i < count; i++) {
      time = Cron.parse(expression).next(time, ZoneId.of("Europe/Berlin")).orElseThrow();
      times.add(time);
    }
    return times;
  }
}
