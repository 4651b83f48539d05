package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.schedule.Due.Policy;
import dev.roost.schedule.Due.Reason;
import dev.roost.schedule.Due.Skipped;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DueTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
  private static final Policy RUN_ONCE = new Policy("run_once", 100, false);

  private static Timetable timetable(String cron) {
    return new Timetable("sched_a", Cron.parse(cron), ZoneId.of("UTC"), null, null, 0);
  }

  private static Due at(Instant now, Timetable timetable, Instant next, Policy policy) {
    return Due.at(now, timetable, next, policy, false, MINUTE);
  }

  private static Instant today(String time) {
    return Instant.parse("2026-11-22T" + time + ":00Z");
  }

  @Test
  void aTimeThatHasJustComeIsSubmittedAndTheScheduleAdvances() {
    Due due = at(NOON.plusMillis(3), timetable("* * * * *"), NOON, RUN_ONCE);
    assertEquals(new Due(List.of(NOON), List.of(), today("12:01"), today("12:01")), due);
  }

  @Test
  void nothingIsDueBeforeItsTime() {
    Due due = at(NOON.minusNanos(1), timetable("* * * * *"), NOON, RUN_ONCE);
    assertEquals(new Due(List.of(), List.of(), NOON, NOON), due);
  }

  @Test
  void aTimeIsMissedWhenItIsOlderThanTheSetting() {
    Policy skip = new Policy("skip", 100, false);
    Timetable daily = timetable("0 12 * * *");
    assertEquals(List.of(NOON), at(NOON.plus(MINUTE), daily, NOON, skip).times());
    Due missed = at(NOON.plus(MINUTE).plusNanos(1), daily, NOON, skip);
    assertEquals(List.of(), missed.times());
    assertEquals(List.of(new Skipped(Reason.MISSED, NOON, NOON, 1)), missed.skipped());
    assertEquals(NOON.plus(Duration.ofDays(1)), missed.nextRunAt());
  }

  /** Down from noon to noon; the time that comes with the return is on time. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "skip,     100, 12:00,  1, 11:59, -",
        "run_once, 100, 11:59,  2, 11:58, -",
        "run_all,  100, 10:20, 101, 10:19, -",
        "run_all,    1, 11:59,  2, 11:58, -",
        "run_all,  441, 04:39, 442, 04:38, 999",
      })
  void aDayOfMinutesIsMissed(
      String missedRuns, int limit, String first, int size, String lastSkipped, Integer count) {
    Instant yesterday = NOON.minus(Duration.ofDays(1));
    Due due =
        at(
            NOON.plusSeconds(30),
            timetable("* * * * *"),
            yesterday,
            new Policy(missedRuns, limit, false));
    assertEquals(size, due.times().size());
    assertEquals(today(first), due.times().get(0));
    assertEquals(NOON, due.times().get(size - 1));
    assertEquals(
        List.of(new Skipped(Reason.MISSED, yesterday, today(lastSkipped), count)), due.skipped());
    assertEquals(today("12:01"), due.nextRunAt());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "skip,     100, 12:00,  1, 11:00, 24",
        "run_once, 100, 11:00,  2, 10:00, 23",
        "run_all,   10, 02:00, 11, 01:00, 14",
        "run_all,   23, -,     24, -,      1",
        "run_all,   24, -,     25, -,      -",
        "run_all,  100, -,     25, -,      -",
      })
  void aDayOfHoursIsMissed(
      String missedRuns, int limit, String first, int size, String lastSkipped, Integer count) {
    Instant yesterday = NOON.minus(Duration.ofDays(1));
    Due due =
        at(
            NOON.plusSeconds(30),
            timetable("0 * * * *"),
            yesterday,
            new Policy(missedRuns, limit, false));
    Instant firstTime = first != null ? today(first) : NOON.minus(Duration.ofHours(size - 1));
    Instant last = lastSkipped != null ? today(lastSkipped) : yesterday;
    assertEquals(size, due.times().size());
    assertEquals(firstTime, due.times().get(0));
    assertEquals(
        count == null ? List.of() : List.of(new Skipped(Reason.MISSED, yesterday, last, count)),
        due.skipped());
  }

  @Test
  void aYearOfMinutesCostsNoMoreThanADay() {
    Instant lastYear = NOON.minus(Duration.ofDays(365));
    Timetable minutes = timetable("* * * * *");
    assertTimeout(
        Duration.ofSeconds(60),
        () -> {
          for (int i = 0; i < 30; i++) {
            for (String policy : List.of("skip", "run_once", "run_all")) {
              Due due = at(NOON, minutes, lastYear, new Policy(policy, 1_000, false));
              assertEquals(lastYear, due.skipped().get(0).first());
            }
          }
        });
  }

  @Test
  void timesFarApartAreFoundAsWell() {
    Timetable leapDays = timetable("0 0 29 2 *");
    Instant first = Instant.parse("2000-02-29T00:00:00Z");
    Due due = at(NOON, leapDays, first, new Policy("run_all", 3, false));
    assertEquals(
        List.of(
            Instant.parse("2016-02-29T00:00:00Z"),
            Instant.parse("2020-02-29T00:00:00Z"),
            Instant.parse("2024-02-29T00:00:00Z")),
        due.times());
    assertEquals(
        List.of(new Skipped(Reason.MISSED, first, Instant.parse("2012-02-29T00:00:00Z"), 4)),
        due.skipped());
    assertEquals(Instant.parse("2028-02-29T00:00:00Z"), due.nextRunAt());
  }

  @Test
  void whileAJobIsOpenAScheduleThatSkipsOverlapsSubmitsNothing() {
    Policy skip = new Policy("run_all", 100, true);
    Due due = Due.at(NOON, timetable("0 * * * *"), today("10:00"), skip, true, MINUTE);
    assertEquals(List.of(), due.times());
    assertEquals(List.of(new Skipped(Reason.OVERLAP, today("10:00"), NOON, 3)), due.skipped());
    assertEquals(today("13:00"), due.nextRunAt());
  }

  @Test
  void aScheduleThatSkipsOverlapsSubmitsTheFirstOfSeveral() {
    Policy skip = new Policy("run_once", 100, true);
    Due due = Due.at(NOON, timetable("0 * * * *"), today("09:00"), skip, false, MINUTE);
    assertEquals(List.of(today("11:00")), due.times());
    assertEquals(
        List.of(
            new Skipped(Reason.MISSED, today("09:00"), today("10:00"), 2),
            new Skipped(Reason.OVERLAP, NOON, NOON, 1)),
        due.skipped());
  }

  @Test
  void jitterPutsOffAndDoesNotMakeATimeMissed() {
    Timetable late =
        new Timetable("sched_b", Cron.parse("0 * * * *"), ZoneId.of("UTC"), null, null, 3_600);
    Instant due = late.dueAt(NOON);
    assertTrue(!due.isBefore(NOON) && due.isBefore(NOON.plusSeconds(3_600)), due.toString());
    assertEquals(
        due, new Timetable("sched_b", late.cron(), late.zone(), null, null, 3_600).dueAt(NOON));
    Policy skip = new Policy("skip", 1, false);
    assertEquals(List.of(), at(due.minusNanos(1), late, NOON, skip).times());
    assertEquals(List.of(NOON), at(due, late, NOON, skip).times());
    assertEquals(late.dueAt(today("13:00")), at(due, late, NOON, skip).dueAt());
    assertEquals(List.of(NOON), at(due.plusSeconds(60), late, NOON, skip).times());
    assertEquals(1, at(due.plusSeconds(61), late, NOON, skip).skipped().size());
  }

  @Test
  void jitterSpreadsSchedulesEvenlyAndIsNotTheSameEachTime() {
    int[] tenths = new int[10];
    for (int i = 0; i < 10_000; i++) {
      Timetable one =
          new Timetable("sched_" + i, Cron.parse("@daily"), ZoneId.of("UTC"), null, null, 10);
      tenths[(int) Duration.between(NOON, one.dueAt(NOON)).toSeconds()]++;
    }
    for (int tenth : tenths) {
      assertTrue(tenth > 850 && tenth < 1_150, tenth + " of 10,000 in a tenth");
    }
    Timetable same =
        new Timetable("sched_a", Cron.parse("@daily"), ZoneId.of("UTC"), null, null, 10);
    assertTrue(
        !Duration.between(NOON, same.dueAt(NOON))
            .equals(Duration.between(today("13:00"), same.dueAt(today("13:00")))));
  }

  @Test
  void boundsAreInclusive() {
    Timetable bounded =
        new Timetable(
            "sched_a", Cron.parse("0 * * * *"), ZoneId.of("UTC"), today("10:00"), NOON, 0);
    assertEquals(Optional.of(today("10:00")), bounded.after(Instant.EPOCH));
    assertEquals(Optional.of(today("11:00")), bounded.after(today("10:00")));
    assertEquals(Optional.empty(), bounded.after(NOON));
    Due last = at(NOON.plusSeconds(1), bounded, NOON, RUN_ONCE);
    assertEquals(List.of(NOON), last.times());
    assertNull(last.nextRunAt());
    assertNull(last.dueAt());
    Due late = at(NOON.plus(Duration.ofDays(9)), bounded, today("10:00"), RUN_ONCE);
    assertEquals(List.of(NOON), late.times());
    assertEquals(
        List.of(new Skipped(Reason.MISSED, today("10:00"), today("11:00"), 2)), late.skipped());
    assertNull(late.nextRunAt());
  }

  @Test
  void timesThatAClockSkipsOrHasTwiceAreMadeUpForOnce() {
    Timetable berlin =
        new Timetable(
            "sched_a", Cron.parse("30 2 * * *"), ZoneId.of("Europe/Berlin"), null, null, 0);
    Policy all = new Policy("run_all", 100, false);
    Due spring =
        at(
            Instant.parse("2026-03-30T12:00:00Z"),
            berlin,
            Instant.parse("2026-03-28T01:30:00Z"),
            all);
    assertEquals(
        List.of(
            Instant.parse("2026-03-28T01:30:00Z"),
            Instant.parse("2026-03-29T01:00:00Z"),
            Instant.parse("2026-03-30T00:30:00Z")),
        spring.times());
    Due autumn =
        at(
            Instant.parse("2026-10-26T12:00:00Z"),
            berlin,
            Instant.parse("2026-10-24T00:30:00Z"),
            all);
    assertEquals(
        List.of(
            Instant.parse("2026-10-24T00:30:00Z"),
            Instant.parse("2026-10-25T00:30:00Z"),
            Instant.parse("2026-10-26T01:30:00Z")),
        autumn.times());
  }

  @Test
  void whatFindsNoCapacityStaysAndWhatCameBeforeIsDone() {
    Timetable hours = timetable("0 * * * *");
    Due all = at(NOON, hours, today("07:00"), new Policy("run_all", 3, false));
    assertEquals(4, all.times().size());
    Due part = all.until(today("11:00"), hours);
    assertEquals(List.of(today("09:00"), today("10:00")), part.times());
    assertEquals(all.skipped(), part.skipped());
    assertEquals(today("11:00"), part.nextRunAt());
    assertEquals(today("11:00"), part.dueAt());
    Due minding =
        Due.at(NOON, hours, today("11:00"), new Policy("run_once", 1, true), false, MINUTE);
    assertEquals(List.of(), minding.until(today("11:00"), hours).skipped());
  }

  /** Against the rules as they are written down, one time after the other. */
  @Test
  void everyTimeIsSubmittedOrSkippedAsTheRulesSay() {
    Random random = new Random(20261122);
    List<String> crons =
        List.of("* * * * *", "*/7 * * * *", "0 */5 * * *", "15 3 * * 1", "* 4 1 * *", "@monthly");
    List<String> zones = List.of("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");
    for (int i = 0; i < 3_000; i++) {
      double jitter = random.nextInt(3) == 0 ? random.nextInt(3_600) : 0;
      Timetable timetable =
          new Timetable(
              "sched_" + i,
              Cron.parse(crons.get(random.nextInt(crons.size()))),
              ZoneId.of(zones.get(random.nextInt(zones.size()))),
              null,
              random.nextInt(4) == 0 ? NOON.minusSeconds(random.nextInt(400_000)) : null,
              jitter);
      Optional<Instant> next = timetable.after(NOON.minusSeconds(random.nextInt(3_000_000)));
      if (next.isEmpty()) {
        continue;
      }
      String missed = List.of("skip", "run_once", "run_all").get(random.nextInt(3));
      Policy policy = new Policy(missed, 1 + random.nextInt(200), random.nextBoolean());
      boolean open = random.nextBoolean();
      Due due = Due.at(NOON, timetable, next.get(), policy, open, MINUTE);
      String what = timetable + " " + policy + " " + open + " from " + next.get();
      assertEquals(expected(timetable, next.get(), policy, open), due, what);
    }
  }

  private static Due expected(Timetable timetable, Instant next, Policy policy, boolean open) {
    List<Instant> missed = new ArrayList<>();
    List<Instant> wanted = new ArrayList<>();
    Instant due = Instant.MIN;
    Optional<Instant> time = Optional.of(next);
    for (; time.isPresent(); time = timetable.after(time.get())) {
      Instant own = timetable.dueAt(time.get());
      due = due.isAfter(own) ? due : own;
      if (due.isAfter(NOON)) {
        break;
      }
      (due.isBefore(NOON.minus(MINUTE)) ? missed : wanted).add(time.get());
    }
    int kept =
        switch (policy.missedRuns()) {
          case "skip" -> 0;
          case "run_once" -> Math.min(1, missed.size());
          default -> Math.min(policy.missedRunsLimit(), missed.size());
        };
    wanted.addAll(0, missed.subList(missed.size() - kept, missed.size()));
    List<Skipped> skipped = new ArrayList<>();
    add(skipped, Reason.MISSED, missed.subList(0, missed.size() - kept));
    int most = !policy.skipsOverlap() ? wanted.size() : open ? 0 : Math.min(1, wanted.size());
    add(skipped, Reason.OVERLAP, wanted.subList(most, wanted.size()));
    return new Due(
        List.copyOf(wanted.subList(0, most)),
        skipped,
        time.orElse(null),
        time.map(timetable::dueAt).orElse(null));
  }

  private static void add(List<Skipped> skipped, Reason reason, List<Instant> times) {
    if (!times.isEmpty()) {
      Integer count =
          reason == Reason.MISSED && times.size() > Due.MOST_COUNTED
              ? null
              : (Integer) times.size();
      skipped.add(new Skipped(reason, times.get(0), times.get(times.size() - 1), count));
    }
  }
}
