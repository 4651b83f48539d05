package dev.roost.overview;

import dev.roost.api.Storage;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * Statistics of all agents or of one.
 *
 * @param from the beginning of the first hour
 * @param to the current time
 * @param hours one for each hour, oldest first; the last one is incomplete
 * @param running Executions that run now
 * @param queued ExecutorJobs that wait now
 * @param suspended ExecutorJobs whose scripts wait now, without a process
 * @param failures of these hours, by reason, most frequent first
 * @param failedBuilds agents whose newest build failed, at any time; newest first, 20 at most
 * @param storage of all agents together
 */
@Schema(name = "Statistics")
record Statistics(
    @Schema(description = "The start of the first hour") Instant from,
    @Schema(description = "The present") Instant to,
    @Schema(
            description =
                "One item per hour, including hours without Executions, oldest first. The last hour is "
                    + "the current, incomplete one")
        List<Hour> hours,
    @Schema(description = "Executions that are running") int running,
    @Schema(description = "ExecutorJobs that are queued") int queued,
    @Schema(description = "ExecutorJobs that are suspended") int suspended,
    @Schema(description = "The current executors") Executors executors,
    @Schema(
            description =
                "Failures of Executions that ended in these hours, by reason, most frequent first")
        List<Failure> failures,
    @Schema(description = "Agents whose newest build failed, at any time; newest first, at most 20")
        List<FailedBuild> failedBuilds,
    @Schema(description = "The size of all stored data, including other agents")
        Storage.Usage storage) {

  /** How many Executions ended in an hour. */
  @Schema(name = "StatisticsHour")
  record Hour(
      @Schema(description = "The start of the hour") Instant hour,
      @Schema(description = "Executions that succeeded in this hour") int succeeded,
      @Schema(description = "Executions that failed in this hour") int failed,
      @Schema(description = "Executions that reached their agent's timeout in this hour")
          int timedOut,
      @Schema(description = "Executions that were cancelled in this hour") int cancelled,
      @Schema(description = "Executions that were lost in this hour, because their executor ended")
          int lost) {}

  /**
   * The existing executors.
   *
   * @param idle ready executors without an Execution
   * @param working executors that run an Execution
   * @param pooled ready executors of pools: no agent has them yet
   * @param limit how many there may be: an agent's max_concurrency, or else the runtime's capacity
   */
  @Schema(name = "StatisticsExecutors")
  record Executors(
      @Schema(description = "Executors that are starting") int starting,
      @Schema(description = "Executors that are ready and run no Execution") int idle,
      @Schema(description = "Executors that run an Execution") int working,
      @Schema(
              description =
                  "Executors that are ready in a pool, started before an agent needs them. They stop when "
                      + "an agent needs their capacity")
          int pooled,
      @Schema(
              description =
                  "The maximum number of executors: the agent's max_concurrency, or without agent_id the "
                      + "capacity of the runtime")
          int limit) {}

  /**
   * Executions that failed, timed out or were lost for the same reason.
   *
   * @param agents the number of affected agents
   */
  @Schema(name = "StatisticsFailure")
  record Failure(
      @Schema(description = "The reason of the Executions", examples = "exception") String reason,
      @Schema(description = "Executions that failed, timed out or were lost for this reason")
          int count,
      @Schema(description = "The number of agents with these Executions") int agents,
      @Schema(description = "The Execution that ended last") Latest latest) {}

  /** The latest of these Executions. */
  @Schema(name = "StatisticsLatestFailure")
  record Latest(
      @Schema(description = "The state of the Execution") String executionId,
      String agentId,
      @Schema(description = "The agent's current name; for a deleted agent, its last name")
          String agentName,
      @Schema(description = "Why it failed, as a message") String message,
      @Schema(description = "When it ended") Instant finishedAt) {}

  /** An agent's newest build, which failed. */
  @Schema(name = "StatisticsFailedBuild")
  record FailedBuild(
      @Schema(description = "The BuilderJob of the agent's current revision") String builderJobId,
      String agentId,
      @Schema(description = "The agent's current name") String agentName,
      @Schema(description = "The reason of the BuilderJob", examples = "requirement_not_found")
          String reason,
      @Schema(description = "Why it failed, as a message") String message,
      @Schema(description = "When it failed") Instant finishedAt) {}
}
