package dev.roost.schedule;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Optional;

/**
 * A cron expression: minute, hour, day of the month, month, day of the week. {@code docs/cron.md}
 * describes the syntax, and what happens when clocks change. Immutable.
 */
public final class Cron {
  private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("9999-01-02T00:00:00Z");
  private static final int LAST_YEAR = 9998; // RFC 3339 has four digits, in every zone

  private final String expression;
  private final long minutes;
  private final long hours;
  private final long months;
  private final CronDays days;
  private final boolean asItHappens;

  /**
   * @param asItHappens whether to follow the wall clock through every change: for a minute or hour
   *     field that begins with a star
   */
  Cron(
      String expression,
      long minutes,
      long hours,
      long months,
      CronDays days,
      boolean asItHappens) {
    this.expression = expression;
    this.minutes = minutes;
    this.hours = hours;
    this.months = months;
    this.days = days;
    this.asItHappens = asItHappens;
  }

  /**
   * Parses an expression of five fields, or a nickname such as {@code @daily}; case doesn't matter.
   *
   * @throws CronException for an invalid expression, or one that never matches; the message is for
   *     the person who wrote it
   */
  public static Cron parse(String expression) throws CronException {
    return CronParser.parse(expression);
  }

  /**
   * The first time after this instant, a whole minute. A time that the zone skips (clocks go
   * forward) becomes the first minute after the gap; of a time that occurs twice, the first one
   * counts. An expression whose minute or hour begins with a star follows the wall clock instead:
   * no times in a gap, and both times when clocks go back.
   *
   * @return empty only at the end of the representable range, at the end of the year 9998
   */
  public Optional<Instant> next(Instant after, ZoneId zone) {
    Instant from = after.isBefore(EARLIEST) ? EARLIEST : after;
    if (from.isAfter(LATEST)) {
      return Optional.empty();
    }
    ZoneRules rules = zone.getRules();
    return Optional.ofNullable(asItHappens ? nextShown(from, rules) : nextFixed(from, rules));
  }

  /** The expression in English, such as {@code At 09:00 on Monday to Friday}. */
  public String description() {
    return new CronWords(minutes, hours, months, days).toString();
  }

  /** The expression as it was written. */
  @Override
  public String toString() {
    return expression;
  }

  private Instant nextFixed(Instant after, ZoneRules rules) {
    LocalDateTime local = LocalDateTime.ofInstant(after, rules.getOffset(after));
    Instant found;
    do {
      local = nextLocal(minuteAfter(local));
      if (local == null) {
        return null;
      }
      found = instantOf(local, rules);
    } while (!found.isAfter(after)); // the first of two occurrences may be past already
    return found;
  }

  private static Instant instantOf(LocalDateTime local, ZoneRules rules) {
    ZoneOffsetTransition gap = rules.getTransition(local);
    if (gap == null || gap.isOverlap()) {
      return local.toInstant(rules.getValidOffsets(local).get(0));
    }
    return wholeMinute(gap.getDateTimeAfter()).toInstant(gap.getOffsetAfter());
  }

  private Instant nextShown(Instant after, ZoneRules rules) {
    Instant from = after;
    ZoneOffset offset = rules.getOffset(from);
    LocalDateTime local = minuteAfter(LocalDateTime.ofInstant(from, offset));
    LocalDateTime searchedFrom = local;
    LocalDateTime found = nextLocal(local);
    while (true) {
      if (local.isBefore(searchedFrom) || found != null && local.isAfter(found)) {
        searchedFrom = local;
        found = nextLocal(local);
      }
      if (found == null) {
        return null;
      }
      ZoneOffsetTransition change = rules.nextTransition(from);
      if (change == null || found.isBefore(change.getDateTimeBefore())) {
        return found.toInstant(offset);
      }
      from = change.getInstant();
      offset = change.getOffsetAfter();
      local = wholeMinute(change.getDateTimeAfter());
    }
  }

  private static LocalDateTime minuteAfter(LocalDateTime time) {
    return time.truncatedTo(ChronoUnit.MINUTES).plusMinutes(1);
  }

  /** Until 1972, some zones changed their clocks by odd seconds. */
  private static LocalDateTime wholeMinute(LocalDateTime time) {
    return minuteAfter(time.minusNanos(1));
  }

  /** The first matching time that is not before this one; null in the year 9999. */
  private LocalDateTime nextLocal(LocalDateTime from) {
    int year = from.getYear();
    int month = from.getMonthValue();
    int first = from.getDayOfMonth();
    LocalTime start = from.toLocalTime();
    while (year <= LAST_YEAR) {
      if ((months >>> month & 1) != 0) {
        long candidates = days.in(year, month);
        for (int day = CronBits.next(candidates, first);
            day > 0;
            day = CronBits.next(candidates, day + 1)) {
          LocalTime time = nextTime(day == first ? start : LocalTime.MIN);
          if (time != null) {
            return LocalDate.of(year, month, day).atTime(time);
          }
        }
      }
      year += month / 12;
      month = month % 12 + 1;
      first = 1;
      start = LocalTime.MIN;
    }
    return null;
  }

  private LocalTime nextTime(LocalTime from) {
    int hour = CronBits.next(hours, from.getHour());
    if (hour == from.getHour()) {
      int minute = CronBits.next(minutes, from.getMinute());
      if (minute >= 0) {
        return LocalTime.of(hour, minute);
      }
      hour = CronBits.next(hours, hour + 1);
    }
    return hour < 0 ? null : LocalTime.of(hour, CronBits.next(minutes, 0));
  }

  /**
   * Whether any day matches. In 28 years without a century's end, each month begins with each day
   * of the week.
   */
  boolean possible() {
    for (int year = 2000; year < 2028; year++) {
      for (int month : CronBits.of(months)) {
        if (days.in(year, month) != 0) {
          return true;
        }
      }
    }
    return false;
  }
}
