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
 * @param failures of these hours, by reason, most frequent first
 * @param failedBuilds agents whose newest build failed, at any time; newest first, 20 at most
 * @param storage of all agents together
 */
@Schema(name = "Statistics")
record Statistics(
    @Schema(description = "The beginning of the first hour") Instant from,
    @Schema(description = "The present") Instant to,
    @Schema(
            description =
                "One for each hour, also without Executions, oldest first; the last one has only begun")
        List<Hour> hours,
    @Schema(description = "Executions that run now") int running,
    @Schema(description = "ExecutorJobs that wait now") int queued,
    @Schema(description = "Those that exist now") Executors executors,
    @Schema(description = "Of Executions that ended in these hours, by reason, most frequent first")
        List<Failure> failures,
    @Schema(
            description =
                "Agents whose newest build failed, whenever that was; newest first, 20 at most")
        List<FailedBuild> failedBuilds,
    @Schema(description = "What is stored in all, also of other agents") Storage.Usage storage) {

  /** How many Executions ended in an hour. */
  @Schema(name = "StatisticsHour")
  record Hour(
      @Schema(description = "When it begins") Instant hour,
      @Schema(description = "Executions that succeeded in this hour") int succeeded,
      @Schema(description = "Executions that failed in this hour") int failed,
      @Schema(description = "Executions that reached their agent's timeout in this hour")
          int timedOut,
      @Schema(description = "Executions that were cancelled in this hour") int cancelled,
      @Schema(description = "Executions whose executor ended under them in this hour") int lost) {}

  /**
   * The existing executors.
   *
   * @param idle ready executors without an Execution
   * @param working executors that run an Execution
   * @param limit how many there may be: an agent's max_concurrency, or else the runtime's capacity
   */
  @Schema(name = "StatisticsExecutors")
  record Executors(
      @Schema(description = "Those that can take no work yet") int starting,
      @Schema(description = "Those that are ready and have nothing to do") int idle,
      @Schema(description = "Those that run an Execution") int working,
      @Schema(
              description =
                  "How many there may be: of an agent its max_concurrency, else what the runtime has room for")
          int limit) {}

  /**
   * Executions that failed, timed out or were lost for the same reason.
   *
   * @param agents the number of affected agents
   */
  @Schema(name = "StatisticsFailure")
  record Failure(
      @Schema(description = "As Executions have it", examples = "exception") String reason,
      @Schema(description = "Executions that failed, timed out or were lost for this reason")
          int count,
      @Schema(description = "How many agents they are of") int agents,
      @Schema(description = "The one of them that ended last") Latest latest) {}

  /** The latest of these Executions. */
  @Schema(name = "StatisticsLatestFailure")
  record Latest(
      @Schema(description = "Of the Execution") String executionId,
      String agentId,
      @Schema(description = "Its present name; of a deleted agent, the last one") String agentName,
      @Schema(description = "Why it failed, for a person") String message,
      @Schema(description = "When it ended") Instant finishedAt) {}

  /** An agent's newest build, which failed. */
  @Schema(name = "StatisticsFailedBuild")
  record FailedBuild(
      @Schema(description = "The one of the agent's present revision") String builderJobId,
      String agentId,
      @Schema(description = "Its present name") String agentName,
      @Schema(description = "As BuilderJobs have it", examples = "requirement_not_found")
          String reason,
      @Schema(description = "Why it failed, for a person") String message,
      @Schema(description = "When it failed") Instant finishedAt) {}
}
