package dev.roost.schedule;

import dev.roost.api.Text;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;

/**
 * The times of a schedule, and when each is due. Pure.
 *
 * @param startsAt no time is before it; null: no bound
 * @param endsAt no time is after it; null: no bound
 * @param jitterSeconds the maximum delay of a time
 */
record Timetable(
    String scheduleId,
    Cron cron,
    ZoneId zone,
    Instant startsAt,
    Instant endsAt,
    double jitterSeconds) {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  static Timetable of(Schedule schedule) {
    return new Timetable(
        schedule.id,
        Cron.parse(schedule.cron),
        ZoneId.of(schedule.timeZone),
        schedule.startsAt,
        schedule.endsAt,
        schedule.jitterSeconds);
  }

  /** The first time after the instant. */
  Optional<Instant> after(Instant instant) {
    Instant from = startsAt != null && startsAt.isAfter(instant) ? startsAt.minusNanos(1) : instant;
    return cron.next(from, zone).filter(time -> endsAt == null || !time.isAfter(endsAt));
  }

  /**
   * When a scheduled time is due: its delay is a part of the jitter that depends only on the
   * schedule and the time, so it is the same on each replica and after a restart.
   */
  Instant dueAt(Instant time) {
    if (jitterSeconds == 0) {
      return time;
    }
    byte[] digest = Text.sha256(scheduleId + ' ' + time.getEpochSecond());
    double part = (ByteBuffer.wrap(digest).getLong() >>> 11) * 0x1p-53; // as Random.nextDouble
    return time.plusNanos((long) (part * jitterSeconds * 1e6) * 1_000);
  }

  /** The maximum that {@link #dueAt} adds. */
  Duration jitter() {
    return Duration.ofNanos((long) (jitterSeconds * 1e9));
  }

  /**
   * The last time before {@code end}. The number of steps grows with the logarithm of the gap,
   * however many times lie before it.
   *
   * @param first a time of this table; earlier times are not searched
   */
  Optional<Instant> before(Instant end, Instant first) {
    if (!first.isBefore(end)) {
      return Optional.empty();
    }
    // There is no time in [empty, end).
    Instant empty = end;
    Instant found = first;
    Duration step = MINUTE;
    while (true) {
      Instant from = end.minus(step);
      if (!from.isAfter(first)) {
        break;
      }
      Optional<Instant> time = timeIn(from, end);
      if (time.isPresent()) {
        found = time.get();
        break;
      }
      empty = from;
      step = step.multipliedBy(2);
    }
    // Now found is a time; a binary search looks for later ones.
    while (true) {
      Optional<Instant> next = timeIn(found.plusNanos(1), end);
      if (next.isEmpty()) {
        return Optional.of(found);
      }
      found = next.get();
      Instant middle = found.plus(Duration.between(found, empty).dividedBy(2));
      Optional<Instant> later = timeIn(middle, end);
      if (later.isPresent()) {
        found = later.get();
      } else {
        empty = middle;
      }
    }
  }

  /** The first time in [from, end). */
  private Optional<Instant> timeIn(Instant from, Instant end) {
    return after(from.minusNanos(1)).filter(time -> time.isBefore(end));
  }
}
