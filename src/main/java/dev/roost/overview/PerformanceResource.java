package dev.roost.overview;

import dev.roost.agent.Agent;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import dev.roost.overview.Performance.Figures;
import dev.roost.overview.Performance.FirstRun;
import dev.roost.overview.Performance.Interval;
import dev.roost.overview.Performance.Percentiles;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** How an agent's executions have gone, over time. */
@Path("/v1/agents/{id}/performance")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Overview")
@Blocking
public class PerformanceResource {
  private static final int MOST_HOURS = 720;

  /** Sorting more of them would take seconds. */
  static final int MOST_EXECUTIONS = 100_000;

  private static final int MOST_REVISIONS = 100;

  private static final String COUNTED =
      """
      with counted as (
        select e.state, e.agent_revision, e.cold_start, e.queued_seconds, e.max_memory_bytes, e.started_at,
          case when e.state <> 'cancelled'
            then greatest(0, extract(epoch from e.finished_at - e.started_at))::float8 end as seconds,
          date_bin(make_interval(secs => :interval), e.finished_at, timestamptz '2000-01-01 00:00Z') as interval
        from execution e
        where e.agent_id = :agent and e.finished_at >= :from and e.finished_at <= :to and not e.draft
          and e.state <> 'suspended'
        order by e.finished_at desc limit :most)
      """;

  private static final Sql FIGURES =
      Sql.of(
          COUNTED
              + """
              select interval, count(*) as count, count(*) filter (where state = 'succeeded') as succeeded,
                count(*) filter (where state = 'failed') as failed,
                count(*) filter (where state = 'timed_out') as timed_out,
                count(*) filter (where state = 'cancelled') as cancelled,
                count(*) filter (where state = 'lost') as lost,
                count(*) filter (where cold_start) as cold_starts,
                percentile_cont(array[0.5, 0.95, 0.99]) within group (order by seconds) as durations,
                percentile_cont(array[0.5, 0.95, 0.99]) within group (order by queued_seconds) as queued,
                max(max_memory_bytes) as memory
              from counted group by grouping sets ((), (interval))""");

  /** The earliest revision of a time may have run before it. */
  private static final Sql REVISIONS =
      Sql.of(
          COUNTED
              + """
              select r.agent_revision, r.started_at from (
                select agent_revision, min(started_at) as started_at from counted group by 1) r
              where not exists (
                select 1 from execution e
                where e.agent_id = :agent and e.agent_revision = r.agent_revision and e.finished_at < :from
                  and not e.draft)
              order by r.started_at desc limit :revisions""");

  private static final String EXAMPLE =
      """
      {"from": "2026-11-22T06:00:00.000000Z", "to": "2026-11-22T07:13:21.123456Z", "interval_seconds": 3600,
       "complete": true,
       "total": {"succeeded": 412, "failed": 2, "timed_out": 0, "cancelled": 1, "lost": 0, "cold_starts": 3,
         "duration": {"p50": 1.204, "p95": 3.511, "p99": 4.902},
         "queued": {"p50": 0.001, "p95": 0.012, "p99": 1.322}, "max_memory_bytes": 73400320},
       "intervals": [
         {"start": "2026-11-22T06:00:00.000000Z", "figures": {"succeeded": 412, "failed": 2, "timed_out": 0,
           "cancelled": 1, "lost": 0, "cold_starts": 3, "duration": {"p50": 1.204, "p95": 3.511, "p99": 4.902},
           "queued": {"p50": 0.001, "p95": 0.012, "p99": 1.322}, "max_memory_bytes": 73400320}},
         {"start": "2026-11-22T07:00:00.000000Z", "figures": {"succeeded": 0, "failed": 0, "timed_out": 0,
           "cancelled": 0, "lost": 0, "cold_starts": 0, "duration": null, "queued": null,
           "max_memory_bytes": null}}],
       "revisions": [{"revision": 4, "started_at": "2026-11-22T06:31:07.201113Z"}]}""";

  private final EntityManager entities;
  private final Clock clock;

  PerformanceResource(EntityManager entities, Clock clock) {
    this.entities = entities;
    this.clock = clock;
  }

  @GET
  @Transactional
  @Operation(
      operationId = "getAgentPerformance",
      summary = "Retrieve an agent's performance: outcomes, durations, waits and memory over time",
      description =
          "Counts Executions by their end. Intervals are hours in UTC for up to 48 hours, else quarters of a "
              + "day for up to 240 hours, else days.")
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              schema = @Schema(implementation = Performance.class),
              examples = @ExampleObject(name = "of two hours", value = EXAMPLE)))
  public Performance get(
      String id,
      @Parameter(
              description = "The number of hours, 1 to 720",
              schema =
                  @Schema(
                      type = SchemaType.INTEGER,
                      minimum = "1",
                      maximum = "720",
                      defaultValue = "24"))
          @RestQuery
          @DefaultValue("24")
          int hours) {
    if (hours < 1 || hours > MOST_HOURS) {
      throw Problem.invalid(
          "?hours", "out_of_range", "hours must be from 1 to " + MOST_HOURS + ".");
    }
    Agent.require(id);
    Duration interval = Duration.ofHours(hours <= 48 ? 1 : hours <= 240 ? 6 : 24);
    Instant to = clock.instant();
    Instant last =
        Instant.ofEpochSecond(to.getEpochSecond() - to.getEpochSecond() % interval.toSeconds());
    long count = (hours + interval.toHours() - 1) / interval.toHours();
    Instant from = last.minus(interval.multipliedBy(count - 1));
    Map<Instant, Figures> figures = new HashMap<>();
    counted(FIGURES, id, from, to, interval)
        .list(entities, row -> figures.put(Sql.instant(row, "interval"), figures(row)));
    Figures total = figures.getOrDefault(null, Figures.NONE);
    List<Interval> intervals = new ArrayList<>();
    for (Instant start = from; !start.isAfter(last); start = start.plus(interval)) {
      intervals.add(new Interval(start, figures.getOrDefault(start, Figures.NONE)));
    }
    List<FirstRun> revisions =
        counted(REVISIONS, id, from, to, interval)
            .with("revisions", MOST_REVISIONS)
            .list(
                entities,
                row -> new FirstRun(row.getInt("agent_revision"), Sql.instant(row, "started_at")));
    Collections.reverse(revisions);
    return new Performance(
        from,
        to,
        (int) interval.toSeconds(),
        total.executions() < MOST_EXECUTIONS,
        total,
        intervals,
        revisions);
  }

  private static Sql.Bound counted(
      Sql statement, String id, Instant from, Instant to, Duration interval) {
    return statement
        .with("agent", id)
        .with("from", from)
        .with("to", to)
        .with("interval", (double) interval.toSeconds())
        .with("most", MOST_EXECUTIONS);
  }

  private static Figures figures(ResultSet row) throws SQLException {
    return new Figures(
        row.getInt("succeeded"),
        row.getInt("failed"),
        row.getInt("timed_out"),
        row.getInt("cancelled"),
        row.getInt("lost"),
        row.getInt("cold_starts"),
        percentiles(row, "durations"),
        percentiles(row, "queued"),
        row.getObject("memory", Long.class));
  }

  private static Percentiles percentiles(ResultSet row, String column) throws SQLException {
    if (row.getArray(column) == null) {
      return null;
    }
    Double[] values = (Double[]) row.getArray(column).getArray();
    return values[0] == null ? null : new Percentiles(values[0], values[1], values[2]);
  }
}
