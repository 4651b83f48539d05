package dev.roost.overview;

import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * How an agent's executions have gone in a time.
 *
 * @param complete whether all executions of that time are counted
 * @param intervals oldest first, without gaps
 */
@Schema(name = "AgentPerformance")
record Performance(
    @Schema(description = "The start of the first interval") Instant from,
    @Schema(description = "The present") Instant to,
    @Schema(description = "The length of an interval in seconds: 3600, 21600 or 86400")
        int intervalSeconds,
    @Schema(
            description =
                "False if so many Executions ended in this time that only the latest 100,000 are "
                    + "counted")
        boolean complete,
    @Schema(description = "All intervals together") Figures total,
    @Schema(
            description =
                "One item per interval, oldest first, including those without Executions. The last "
                    + "interval is incomplete")
        List<Interval> intervals,
    @Schema(description = "The revisions that ran first in this time, oldest first, at most 100")
        List<FirstRun> revisions) {

  /** Figures of an interval. */
  @Schema(name = "AgentPerformanceInterval")
  record Interval(
      @Schema(description = "The start of the interval") Instant start,
      @Schema(description = "The Executions that ended in it") Figures figures) {}

  /** Figures of Executions. */
  @Schema(name = "AgentPerformanceFigures")
  record Figures(
      @Schema(description = "Executions that succeeded") int succeeded,
      @Schema(description = "Executions that failed") int failed,
      @Schema(description = "Executions that reached the agent's timeout") int timedOut,
      @Schema(description = "Executions that were cancelled") int cancelled,
      @Schema(description = "Executions that were lost, because their executor ended") int lost,
      @Schema(description = "Executions for which an executor had to be started") int coldStarts,
      @Schema(
              nullable = true,
              description =
                  "The time from the claim until the end, of the Executions that were not cancelled; null if "
                      + "there are none")
          Percentiles duration,
      @Schema(
              nullable = true,
              description = "The time until an executor claimed the job; null if there are none")
          Percentiles queued,
      @Schema(
              nullable = true,
              description =
                  "The highest peak memory of an Execution in bytes; null if none is known")
          Long maxMemoryBytes) {
    static final Figures NONE = new Figures(0, 0, 0, 0, 0, 0, null, null, null);

    int executions() {
      return succeeded + failed + timedOut + cancelled + lost;
    }
  }

  /** Percentiles of a duration. */
  @Schema(name = "DurationPercentiles")
  record Percentiles(
      @Schema(description = "The median in seconds") double p50,
      @Schema(description = "The 95th percentile in seconds") double p95,
      @Schema(description = "The 99th percentile in seconds") double p99) {}

  /** When a revision ran first. */
  @Schema(name = "RevisionFirstRun")
  record FirstRun(
      @Schema(description = "The number of the revision") int revision,
      @Schema(description = "The start of its first Execution that ended in this time")
          Instant startedAt) {}
}
