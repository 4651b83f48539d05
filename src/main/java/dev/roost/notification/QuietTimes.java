package dev.roost.notification;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * When a channel sends nothing: hours of days, by the clocks of a time zone. A time that the change
 * to summer time skips counts as the time after the gap; a time that occurs twice counts when it
 * occurs first (as {@link java.time.ZonedDateTime} resolves them).
 */
record QuietTimes(List<Period> periods, ZoneId zone) {
  /** Quiet for longer is quiet for ever. */
  private static final int MOST_DAYS = 8;

  /** The days of a week. */
  public enum Day implements Code {
    MON,
    TUE,
    WED,
    THU,
    FRI,
    SAT,
    SUN;

    @Override
    @JsonValue
    public String code() {
      return Code.of(this);
    }

    private boolean is(DayOfWeek day) {
      return ordinal() == day.ordinal();
    }
  }

  /**
   * @param days on which it begins
   * @param to on the next day, unless it is after {@code from}
   */
  @Schema(name = "QuietTime")
  record Period(
      @Schema(required = true, description = "The days on which it begins") List<Day> days,
      @Schema(required = true, description = "The beginning, HH:MM", examples = "22:00")
          String from,
      @Schema(
              required = true,
              description =
                  "The end, HH:MM; on the next day, unless it is later than from. The same time means 24 "
                      + "hours",
              examples = "07:00")
          String to) {

    /** The end, if the period that begins on the date contains the time. */
    private Optional<Instant> endIfContained(LocalDate date, Instant time, ZoneId zone) {
      if (days.stream().noneMatch(day -> day.is(date.getDayOfWeek()))) {
        return Optional.empty();
      }
      LocalTime begin = LocalTime.parse(from);
      LocalTime end = LocalTime.parse(to);
      Instant first = date.atTime(begin).atZone(zone).toInstant();
      LocalDate last = end.isAfter(begin) ? date : date.plusDays(1);
      Instant after = last.atTime(end).atZone(zone).toInstant();
      return time.isBefore(first) || !time.isBefore(after) ? Optional.empty() : Optional.of(after);
    }
  }

  QuietTimes {
    periods = List.copyOf(periods);
  }

  /** The time itself, or the end of the quiet time that contains it, with those that follow. */
  Instant endOf(Instant time) {
    Instant end = time;
    Instant limit = time.plusSeconds(MOST_DAYS * 86_400L);
    for (Optional<Instant> next = next(end); next.isPresent(); next = next(end)) {
      end = next.get();
      if (end.isAfter(limit)) {
        return end;
      }
    }
    return end;
  }

  /** Whether every time of a week is quiet, so that nothing would ever be sent. */
  boolean isAlways(Instant now) {
    return endOf(now).isAfter(now.plusSeconds(MOST_DAYS * 86_400L));
  }

  private Optional<Instant> next(Instant time) {
    LocalDate date = time.atZone(zone).toLocalDate();
    return periods.stream()
        .flatMap(
            period ->
                List.of(date.minusDays(1), date).stream()
                    .flatMap(begun -> period.endIfContained(begun, time, zone).stream()))
        .max(Instant::compareTo);
  }
}
