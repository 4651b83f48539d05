package dev.roost.schedule;

import dev.roost.api.JsonText;
import dev.roost.state.ExecutorJobState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A schedule, as the API shows it.
 *
 * @param jitter seconds
 * @param nextRunAt null while the schedule is paused, and when no time is left
 * @param lastRun the latest run on schedule; null before the first
 * @param description the cron expression in words
 */
@Schema(name = "Schedule")
public record ScheduleView(
    String id,
    String agentId,
    @Schema(description = "Unique among the agent's schedules") String name,
    @Schema(
            examples = "30 2 * * 1-5",
            description = "As submitted: five fields, or a macro such as @daily")
        String cron,
    @Schema(examples = "Europe/Berlin", description = "IANA's name") String timeZone,
    @Schema(nullable = true, description = "The request.payload of the script; null for None")
        JsonText payload,
    @Schema(description = "paused: the schedule has no next run") ScheduleState state,
    @Schema(
            enumeration = {"skip", "run_once", "run_all"},
            description =
                "What to do about runs that were missed while Roost was not running: skip all of them, "
                    + "run the latest one, or run the latest missed_runs_limit")
        String missedRuns,
    @Schema(description = "The maximum number of missed runs that run_all runs")
        int missedRunsLimit,
    @Schema(
            enumeration = {"allow", "skip", "queue"},
            description =
                "What to do if an earlier run is queued or running: allow the new run, skip it, or queue "
                    + "it")
        String overlap,
    @Schema(
            description =
                "Each run is delayed by a random time of up to this number of seconds, to spread load")
        double jitter,
    @Schema(
            nullable = true,
            description = "No runs are scheduled before this time; null for no limit")
        Instant startsAt,
    @Schema(
            nullable = true,
            description = "No runs are scheduled after this time; null for no limit")
        Instant endsAt,
    @Schema(
            nullable = true,
            description =
                "The next scheduled time, without jitter; null if the schedule is paused or has no "
                    + "further runs")
        Instant nextRunAt,
    @Schema(
            nullable = true,
            description =
                "The latest scheduled run, without triggered runs; null if there was none")
        LastRun lastRun,
    @Schema(
            examples = "At 02:30 on Monday to Friday",
            description = "A description of the cron expression")
        String description,
    Instant createdAt,
    Instant updatedAt) {

  /**
   * @param state of the ExecutorJob; null when the job has been removed
   */
  @Schema(name = "LastRun")
  public record LastRun(
      @Schema(description = "The scheduled time, without jitter") Instant scheduledTime,
      @Schema(description = "The job that was submitted") String executorJobId,
      @Schema(
              nullable = true,
              description = "The state of the ExecutorJob; null if the job has been deleted")
          ExecutorJobState state) {}

  static ScheduleView of(Schedule schedule) {
    return of(List.of(schedule)).get(0);
  }

  /** The views of schedules, in their order. */
  static List<ScheduleView> of(List<Schedule> schedules) {
    Map<String, ExecutorJobState> states = Schedule.lastStates(schedules);
    return schedules.stream()
        .map(schedule -> of(schedule, states.get(schedule.lastExecutorJobId)))
        .toList();
  }

  private static ScheduleView of(Schedule schedule, ExecutorJobState lastState) {
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
