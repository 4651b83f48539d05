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
            description = "As it was given: five fields, or a name as @daily")
        String cron,
    @Schema(examples = "Europe/Berlin", description = "IANA's name") String timeZone,
    @Schema(nullable = true, description = "What the script gets as request.payload; null: None")
        JsonText payload,
    @Schema(
            enumeration = {"active", "paused"},
            description = "paused: it has no next time")
        String state,
    @Schema(
            enumeration = {"skip", "run_once", "run_all"},
            description =
                "What becomes of times that passed while nobody was there to see it: nothing"
                    + " is made up for, the latest one is, or the latest missed_runs_limit are")
        String missedRuns,
    @Schema(description = "How many times run_all makes up for at most") int missedRunsLimit,
    @Schema(
            enumeration = {"allow", "skip", "queue"},
            description =
                "While a run of this schedule waits or runs, another one may begin, is left out, or waits for it")
        String overlap,
    @Schema(
            description =
                "Each run is delayed by a random time of up to that many seconds, to spread the load")
        double jitter,
    @Schema(nullable = true, description = "No time is before it; null: no bound") Instant startsAt,
    @Schema(nullable = true, description = "No time is after it; null: no bound") Instant endsAt,
    @Schema(
            nullable = true,
            description =
                "The first time that nothing was done about yet, without the jitter; null: it"
                    + " is paused, or there is none any more")
        Instant nextRunAt,
    @Schema(
            nullable = true,
            description =
                "The latest run that the clock has made, so none that was triggered; null: there was none")
        LastRun lastRun,
    @Schema(examples = "At 02:30 on Monday to Friday", description = "The cron expression in words")
        String description,
    Instant createdAt,
    Instant updatedAt) {

  /**
   * @param state of the ExecutorJob; null when the job has been removed
   */
  @Schema(name = "LastRun")
  public record LastRun(
      @Schema(description = "The time that it was for, without the jitter") Instant scheduledTime,
      @Schema(description = "The job that was submitted") String executorJobId,
      @Schema(
              nullable = true,
              enumeration = {"queued", "running", "succeeded", "failed", "cancelled"},
              description = "The ExecutorJob's; null: it is not kept any more")
          String state) {}

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
