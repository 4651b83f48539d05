package dev.roost.overview;

import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.overview.Statistics.FailedBuild;
import dev.roost.overview.Statistics.Failure;
import dev.roost.overview.Statistics.Hour;
import dev.roost.overview.Statistics.Latest;
import dev.roost.state.ExecutionState;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The queries of {@link Statistics}; each one uses an index for its counts. There are variants for
 * all agents and for one.
 */
final class Counts {
  static final Counts OF_ALL = new Counts(null);

  static final int MOST_BUILDS = 20;

  final Sql hours;
  final Sql failures;
  final Sql failedBuilds;
  final Sql running;
  final Sql queued;
  final Sql suspended;
  final Sql executors;

  /** Null: all agents. */
  private final String agentId;

  private Counts(String agentId) {
    this.agentId = agentId;
    String ofAgent = agentId == null ? "" : "and %s.agent_id = :agent";
    // The upper bound makes generic plans expect few rows.
    hours =
        Sql.of(
            """
            select date_trunc('hour', e.finished_at, 'UTC') as hour, e.state, count(*) as count
            from execution e
            where e.finished_at >= :from and e.finished_at <= :to and not e.draft %s
            group by 1, 2"""
                .formatted(ofAgent.formatted("e")));
    failures =
        Sql.of(
            """
            select f.reason, f.count, f.agents, e.id, e.agent_id, a.name, e.message, e.finished_at
            from (
              select e.reason, count(*) as count, count(distinct e.agent_id) as agents,
                max(e.finished_at) as latest
              from execution e
              where e.state in ('failed', 'timed_out', 'lost')
                and e.finished_at >= :from and e.finished_at <= :to and not e.draft %1$s
              group by e.reason) f
            cross join lateral (
              select e.id, e.agent_id, e.message, e.finished_at from execution e
              where e.state in ('failed', 'timed_out', 'lost') and e.finished_at = f.latest
                and e.reason = f.reason and not e.draft %1$s
              order by e.id desc limit 1) e
            join agent a on a.id = e.agent_id
            order by f.count desc, f.reason"""
                .formatted(ofAgent.formatted("e")));
    failedBuilds =
        Sql.of(
            """
            select j.id, a.id as agent_id, a.name, j.reason, j.message, j.finished_at
            from builder_job j join agent_revision r on r.builder_job_id = j.id
            join agent a on a.id = r.agent_id and a.revision = r.revision and a.deleted_at is null
            where j.state = 'failed' %s
            order by j.finished_at desc limit :most"""
                .formatted(ofAgent.formatted("j")));
    running =
        Sql.of(
            "select count(*) as count from execution e where e.state = 'running' "
                + ofAgent.formatted("e"));
    queued =
        Sql.of(
            "select count(*) as count from executor_job j where j.state = 'queued' "
                + ofAgent.formatted("j"));
    suspended =
        Sql.of(
            "select count(*) as count from executor_job j where j.state = 'suspended' "
                + ofAgent.formatted("j"));
    executors =
        Sql.of(
            """
            select count(*) filter (where x.state = 'starting') as starting,
              count(*) filter (where x.state = 'ready' and e.id is null and x.agent_id is not null) as idle,
              count(e.id) as working,
              count(*) filter (where x.state = 'ready' and x.agent_id is null) as pooled
            from executor x left join execution e on e.executor_id = x.id and e.state = 'running'
            where x.state <> 'ended' %s"""
                .formatted(ofAgent.formatted("x")));
  }

  static Counts of(String agentId) {
    return agentId == null ? OF_ALL : new Counts(agentId);
  }

  /** One item for each hour, including hours without any Execution. */
  List<Hour> hours(EntityManager entities, Instant from, Instant to) {
    Map<Instant, Map<ExecutionState, Integer>> counts = new HashMap<>();
    between(hours, from, to)
        .list(
            entities,
            row ->
                counts
                    .computeIfAbsent(Sql.instant(row, "hour"), hour -> new HashMap<>())
                    .put(
                        Code.parse(ExecutionState.class, row.getString("state")),
                        row.getInt("count")));
    List<Hour> all = new ArrayList<>();
    for (Instant hour = from; hour.isBefore(to); hour = hour.plus(1, ChronoUnit.HOURS)) {
      Map<ExecutionState, Integer> states = counts.getOrDefault(hour, Map.of());
      all.add(
          new Hour(
              hour,
              states.getOrDefault(ExecutionState.SUCCEEDED, 0),
              states.getOrDefault(ExecutionState.FAILED, 0),
              states.getOrDefault(ExecutionState.TIMED_OUT, 0),
              states.getOrDefault(ExecutionState.CANCELLED, 0),
              states.getOrDefault(ExecutionState.LOST, 0)));
    }
    return all;
  }

  List<Failure> failures(EntityManager entities, Instant from, Instant to) {
    return between(failures, from, to).list(entities, Counts::failure);
  }

  private static Failure failure(ResultSet row) throws SQLException {
    Latest latest =
        new Latest(
            row.getString("id"),
            row.getString("agent_id"),
            row.getString("name"),
            row.getString("message"),
            Sql.instant(row, "finished_at"));
    return new Failure(row.getString("reason"), row.getInt("count"), row.getInt("agents"), latest);
  }

  List<FailedBuild> failedBuilds(EntityManager entities) {
    return of(failedBuilds)
        .with("most", MOST_BUILDS)
        .list(
            entities,
            row ->
                new FailedBuild(
                    row.getString("id"),
                    row.getString("agent_id"),
                    row.getString("name"),
                    row.getString("reason"),
                    row.getString("message"),
                    Sql.instant(row, "finished_at")));
  }

  int running(EntityManager entities) {
    return of(running).first(entities, row -> row.getInt("count")).orElseThrow();
  }

  int queued(EntityManager entities) {
    return of(queued).first(entities, row -> row.getInt("count")).orElseThrow();
  }

  int suspended(EntityManager entities) {
    return of(suspended).first(entities, row -> row.getInt("count")).orElseThrow();
  }

  Statistics.Executors executors(EntityManager entities, int limit) {
    return of(executors)
        .first(
            entities,
            row ->
                new Statistics.Executors(
                    row.getInt("starting"),
                    row.getInt("idle"),
                    row.getInt("working"),
                    row.getInt("pooled"),
                    limit))
        .orElseThrow();
  }

  private Sql.Bound between(Sql statement, Instant from, Instant to) {
    return of(statement).with("from", from).with("to", to);
  }

  private Sql.Bound of(Sql statement) {
    return agentId == null ? statement.with() : statement.with("agent", agentId);
  }
}
