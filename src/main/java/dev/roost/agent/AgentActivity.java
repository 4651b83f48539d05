package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.roost.builds.BuildReason;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.state.BuilderJobState;
import dev.roost.state.ExecutionState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The current and recent activity of an agent.
 *
 * @param builderJob the BuilderJob of the newest revision
 * @param lastExecution the Execution that started last; null: no Execution is stored
 * @param nextRunAt the next time at which a schedule runs the agent; null: no schedule will
 * @param running number of running Executions
 * @param queued number of queued ExecutorJobs
 * @param executions7d Executions that ended within the last seven days
 */
@Schema(name = "AgentActivity")
public record AgentActivity(
    @Schema(description = "The BuilderJob of the newest revision") Builder builderJob,
    @Schema(nullable = true, description = "The Execution that started last; null if none is kept")
        Last lastExecution,
    @Schema(
            nullable = true,
            description = "When a schedule runs the agent next; null if no run is scheduled")
        Instant nextRunAt,
    @Schema(description = "Executions that are running") int running,
    @Schema(description = "ExecutorJobs that are queued") int queued,
    @JsonProperty("executions_7d")
        @Schema(
            name = "executions_7d",
            description = "Executions that ended within the last seven days")
        Week executions7d) {
  private static final Duration WEEK = Duration.ofDays(7);

  /** The state of a BuilderJob. */
  @Schema(name = "AgentActivityBuilderJob")
  public record Builder(
      String id,
      @Schema(description = "The state of the build") BuilderJobState state,
      @Schema(
              nullable = true,
              implementation = BuildReason.class,
              type = SchemaType.STRING,
              description = "Why the build failed; null if it did not fail",
              examples = "requirement_not_found")
          String reason) {}

  /** The state of an Execution. */
  @Schema(name = "AgentActivityExecution")
  public record Last(
      String id,
      @Schema(description = "The state of the Execution") ExecutionState state,
      @Schema(
              nullable = true,
              description = "The Execution's reason; null while it runs and if it succeeded")
          String reason,
      @Schema(description = "When an executor claimed the job") Instant startedAt,
      @Schema(nullable = true, description = "When it ended; null while it runs")
          Instant finishedAt) {}

  /**
   * Counts of ended Executions by outcome.
   *
   * @param failed includes those that timed out or were lost
   */
  @Schema(name = "AgentActivityWeek")
  public record Week(
      @Schema(description = "Executions that succeeded") int succeeded,
      @Schema(
              description =
                  "Executions that failed, timed out or were lost, without cancelled ones")
          int failed) {}

  /** The upper time bound makes plans for arbitrary values expect few rows. */
  static final Sql READ =
      Sql.of(
          """
          select a.id as agent_id, j.id as job_id, j.state as job_state, j.reason as job_reason,
            e.id, e.state, e.reason, e.started_at, e.finished_at,
            (select min(s.next_run_at) from schedule s where s.agent_id = a.id) as next_run_at,
            (select count(*) from execution r where r.agent_id = a.id and r.state = 'running') as running,
            (select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued') as queued,
            w.succeeded, w.failed
          from agent a
          join agent_revision v on v.agent_id = a.id and v.revision = a.revision
          join builder_job j on j.id = v.builder_job_id
          left join lateral (
            select l.id, l.state, l.reason, l.started_at, l.finished_at from execution l
            where l.agent_id = a.id and not l.draft order by l.id desc limit 1) e on true
          cross join lateral (
            select count(*) filter (where c.state = 'succeeded') as succeeded,
              count(*) filter (where c.state in ('failed', 'timed_out', 'lost')) as failed
            from execution c
            where c.agent_id = a.id and c.finished_at >= :since and c.finished_at <= :now and not c.draft) w
          where a.id = any(:agents)""");

  /** Activity by agent identifier, read by one query. */
  static Map<String, AgentActivity> of(List<String> agentIds, Instant now) {
    Map<String, AgentActivity> all = new HashMap<>();
    READ.with("agents", agentIds.toArray(String[]::new))
        .with("since", now.minus(WEEK))
        .with("now", now)
        .list(Agent.getEntityManager(), row -> all.put(row.getString("agent_id"), activity(row)));
    return all;
  }

  private static AgentActivity activity(ResultSet row) throws SQLException {
    String last = row.getString("id");
    return new AgentActivity(
        new Builder(
            row.getString("job_id"),
            Code.parse(BuilderJobState.class, row.getString("job_state")),
            row.getString("job_reason")),
        last == null
            ? null
            : new Last(
                last,
                Code.parse(ExecutionState.class, row.getString("state")),
                row.getString("reason"),
                Sql.instant(row, "started_at"),
                Sql.instant(row, "finished_at")),
        Sql.instant(row, "next_run_at"),
        row.getInt("running"),
        row.getInt("queued"),
        new Week(row.getInt("succeeded"), row.getInt("failed")));
  }
}
