package dev.roost.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What to do about a schedule that is due. Pure.
 *
 * <p>A scheduled time is missed when it has been due for longer than a ticker should need to notice
 * it, since no ticker was running. Times are handled in order: if jitter makes a time due before
 * the previous one, it waits for the previous one.
 *
 * @param times the scheduled times for which jobs are created, oldest first
 * @param skipped the times for which no jobs are created, as runs of consecutive times
 * @param nextRunAt the scheduled time after all these; null: there is none
 * @param dueAt when {@code nextRunAt} is due; null without it
 */
record Due(List<Instant> times, List<Skipped> skipped, Instant nextRunAt, Instant dueAt) {

  /** Skipped times beyond this number are not worth the time to count them. */
  static final int MOST_COUNTED = 1_000;

  enum Reason {
    MISSED,
    OVERLAP;

    String code() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /**
   * A run of consecutive skipped times.
   *
   * @param count how many; null: more than {@link #MOST_COUNTED}
   */
  record Skipped(Reason reason, Instant first, Instant last, Integer count) {}

  /**
   * A schedule's settings for missed and overlapping times.
   *
   * @param missedRuns "skip", "run_once" or "run_all"
   * @param missedRunsLimit the maximum number of jobs for "run_all"
   * @param skipsOverlap whether to create no job while another one is queued or running
   */
  record Policy(String missedRuns, int missedRunsLimit, boolean skipsOverlap) {
    private int keeps() {
      return switch (missedRuns) {
        case "skip" -> 0;
        case "run_once" -> 1;
        default -> missedRunsLimit;
      };
    }
  }

  /**
   * @param next the first scheduled time that was not handled yet
   * @param isOpen whether a job of the schedule is queued or running
   * @param missedAfter how long a time may have been due without being missed
   */
  static Due at(
      Instant now,
      Timetable timetable,
      Instant next,
      Policy policy,
      boolean isOpen,
      Duration missedAfter) {
    Instant missedBefore = now.minus(missedAfter);
    // Times before this one are missed, whatever their jitter: there may be very many.
    Instant surely = missedBefore.minus(timetable.jitter());
    List<Instant> missed = new ArrayList<>();
    List<Instant> onTime = new ArrayList<>();
    Optional<Instant> time =
        next.isBefore(surely) ? timetable.after(surely.minusNanos(1)) : Optional.of(next);
    Instant due = Instant.MIN;
    for (; time.isPresent(); time = timetable.after(time.get())) {
      Instant own = timetable.dueAt(time.get());
      due = own.isAfter(due) ? own : due;
      if (due.isAfter(now)) {
        break;
      }
      (due.isBefore(missedBefore) ? missed : onTime).add(time.get());
    }
    Instant nextRunAt = time.orElse(null);

    Deque<Instant> times = new ArrayDeque<>();
    Instant before = surely;
    for (int i = missed.size() - 1; i >= 0 && times.size() < policy.keeps(); i--) {
      times.addFirst(missed.get(i));
    }
    while (times.size() < policy.keeps()) {
      Optional<Instant> earlier = timetable.before(before, next);
      if (earlier.isEmpty()) {
        break;
      }
      times.addFirst(earlier.get());
      before = earlier.get();
    }
    List<Skipped> skipped = new ArrayList<>();
    int left = missed.size() - times.size();
    Optional<Instant> lastSkipped =
        left > 0 ? Optional.of(missed.get(left - 1)) : timetable.before(before, next);
    lastSkipped.ifPresent(
        last -> skipped.add(new Skipped(Reason.MISSED, next, last, count(timetable, next, last))));

    List<Instant> selected = new ArrayList<>(times);
    selected.addAll(onTime);
    int most = !policy.skipsOverlap() ? selected.size() : isOpen ? 0 : Math.min(1, selected.size());
    if (most < selected.size()) {
      List<Instant> overlapping = selected.subList(most, selected.size());
      skipped.add(
          new Skipped(
              Reason.OVERLAP,
              overlapping.get(0),
              overlapping.get(overlapping.size() - 1),
              overlapping.size()));
    }
    return new Due(
        List.copyOf(selected.subList(0, most)),
        List.copyOf(skipped),
        nextRunAt,
        nextRunAt == null ? null : timetable.dueAt(nextRunAt));
  }

  /** The part before one of these times, which becomes the next one. */
  Due until(Instant time, Timetable timetable) {
    return new Due(
        times.stream().filter(kept -> kept.isBefore(time)).toList(),
        skipped.stream().filter(run -> run.first().isBefore(time)).toList(),
        time,
        timetable.dueAt(time));
  }

  private static Integer count(Timetable timetable, Instant first, Instant last) {
    int count = 1;
    for (Instant time = first; time.isBefore(last); count++) {
      if (count == MOST_COUNTED) {
        return null;
      }
      time = timetable.after(time).orElseThrow();
    }
    return count;
  }
}
