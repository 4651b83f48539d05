package dev.roost.overview;

import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * How it goes, of all agents or of one.
 *
 * @param from the beginning of the first hour
 * @param to the present
 * @param hours one for each hour, oldest first; the last one has only begun
 * @param running Executions that run now
 * @param queued ExecutorJobs that wait now
 * @param failures of these hours, by reason, most frequent first
 * @param failedBuilds agents whose newest build failed, whenever that was; newest first, 20 at most
 */
@Schema(name = "Statistics")
record Statistics(
    Instant from,
    Instant to,
    List<Hour> hours,
    int running,
    int queued,
    Executors executors,
    List<Failure> failures,
    List<FailedBuild> failedBuilds) {

  /** How many Executions ended in an hour. */
  @Schema(name = "StatisticsHour")
  record Hour(Instant hour, int succeeded, int failed, int timedOut, int cancelled, int lost) {}

  /**
   * The executors there are.
   *
   * @param idle those that are ready and have nothing to do
   * @param working those that run an Execution
   * @param limit how many there may be: of an agent its max_concurrency, else what the runtime has
   *     room for
   */
  @Schema(name = "StatisticsExecutors")
  record Executors(int starting, int idle, int working, int limit) {}

  /**
   * Executions that failed, timed out or were lost for the same reason.
   *
   * @param agents how many agents they are of
   */
  @Schema(name = "StatisticsFailure")
  record Failure(
      @Schema(examples = "exception") String reason, int count, int agents, Latest latest) {}

  /** The latest of them. */
  @Schema(name = "StatisticsLatestFailure")
  record Latest(
      String executionId, String agentId, String agentName, String message, Instant finishedAt) {}

  /** The newest build of an agent, which failed. */
  @Schema(name = "StatisticsFailedBuild")
  record FailedBuild(
      String builderJobId,
      String agentId,
      String agentName,
      @Schema(examples = "requirement_not_found") String reason,
      String message,
      Instant finishedAt) {}
}
