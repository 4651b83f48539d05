package dev.roost.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What is to be done about a schedule that is due. Pure.
 *
 * <p>A scheduled time is missed when it has been due for longer than it should take to notice that,
 * since nobody was there to see it. Times come in turn: one that is due earlier than the one before
 * it, by its jitter, waits for that one.
 *
 * @param times the scheduled times for which jobs are created, oldest first
 * @param skipped the ones of which none are made, as runs of times that follow each other
 * @param nextRunAt the scheduled time after all these; null: there is none
 * @param dueAt when that one is due; null with it
 */
record Due(List<Instant> times, List<Skipped> skipped, Instant nextRunAt, Instant dueAt) {

  /** Beyond this, it is not worth the time to count what was skipped. */
  static final int MOST_COUNTED = 1_000;

  enum Reason {
    MISSED,
    OVERLAP;

    String code() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /**
   * Scheduled times that follow each other.
   *
   * @param count how many; null: more than {@link #MOST_COUNTED}
   */
  record Skipped(Reason reason, Instant first, Instant last, Integer count) {}

  /**
   * What a schedule wants done about its times.
   *
   * @param missedRuns "skip", "run_once" or "run_all"
   * @param missedRunsLimit how many "run_all" makes
   * @param skipsOverlap whether no job is made while another one waits or runs
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
   * @param next the first scheduled time that nothing was done about
   * @param isOpen whether a job of the schedule waits or runs
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
    // Whatever its jitter is, a time before this one is missed: there may be very many.
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

    List<Instant> wanted = new ArrayList<>(times);
    wanted.addAll(onTime);
    int most = !policy.skipsOverlap() ? wanted.size() : isOpen ? 0 : Math.min(1, wanted.size());
    if (most < wanted.size()) {
      List<Instant> overlapping = wanted.subList(most, wanted.size());
      skipped.add(
          new Skipped(
              Reason.OVERLAP,
              overlapping.get(0),
              overlapping.get(overlapping.size() - 1),
              overlapping.size()));
    }
    return new Due(
        List.copyOf(wanted.subList(0, most)),
        List.copyOf(skipped),
        nextRunAt,
        nextRunAt == null ? null : timetable.dueAt(nextRunAt));
  }

  /** The part before one of these times, which then is the next one. */
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
