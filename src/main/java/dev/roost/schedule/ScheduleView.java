package dev.roost.schedule;

import dev.roost.api.JsonText;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A schedule, as the API shows it.
 *
 * @param jitter seconds
 * @param nextRunAt null while it is paused, and when there is none any more
 * @param lastRun the latest one that the clock has made; null before the first
 * @param description the cron expression in words
 */
@Schema(name = "Schedule")
public record ScheduleView(
    String id,
    String agentId,
    String name,
    String cron,
    String timeZone,
    JsonText payload,
    String state,
    String missedRuns,
    int missedRunsLimit,
    String overlap,
    double jitter,
    Instant startsAt,
    Instant endsAt,
    Instant nextRunAt,
    LastRun lastRun,
    String description,
    Instant createdAt,
    Instant updatedAt) {

  /**
   * @param state of the ExecutorJob; null when it is not kept any more
   */
  @Schema(name = "LastRun")
  public record LastRun(Instant scheduledTime, String executorJobId, String state) {}

  static ScheduleView of(Schedule schedule) {
    return of(List.of(schedule)).get(0);
  }

  /** The views of schedules, in their order. */
  static List<ScheduleView> of(List<Schedule> schedules) {
    Map<String, String> states = Schedule.lastStates(schedules);
    return schedules.stream()
        .map(schedule -> of(schedule, states.get(schedule.lastExecutorJobId)))
        .toList();
  }

  private static ScheduleView of(Schedule schedule, String lastState) {
    return new ScheduleView(
        schedule.id,
        schedule.agentId,
        schedule.name,
        schedule.cron,
        schedule.timeZone,
        JsonText.ofNullable(schedule.payload),
        schedule.state,
        schedule.missedRuns,
        schedule.missedRunsLimit,
        schedule.overlap,
        schedule.jitterSeconds,
        schedule.startsAt,
        schedule.endsAt,
        schedule.nextRunAt,
        schedule.lastExecutorJobId == null
            ? null
            : new LastRun(schedule.lastScheduledTime, schedule.lastExecutorJobId, lastState),
        Cron.parse(schedule.cron).description(),
        schedule.createdAt,
        schedule.updatedAt);
  }
}
