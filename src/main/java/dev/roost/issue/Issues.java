package dev.roost.issue;

import dev.roost.agent.AgentDeletion;
import dev.roost.api.Problem;
import dev.roost.db.Code;
import dev.roost.db.Conditions;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hibernate.Session;

/** Reads issues, and changes their state for people. */
@ApplicationScoped
class Issues {
  private static final Duration HOURS_SHOWN = Duration.ofDays(14);

  private static final Sql FIND = Sql.of("select * from issue where id = :id");

  private static final Sql HOURS =
      Sql.of(
          """
          select hour, failures from issue_hour where issue_id = :id and hour >= :from order by hour""");

  private static final Sql REVISIONS =
      Sql.of(
          """
          select revision, failures, first_seen_at, last_seen_at from issue_revision
          where issue_id = :id order by revision desc""");

  private static final Sql COUNTS =
      Sql.of(
          """
          select state, count(*) as issues from issue
          where cast(:agent as text) is null or agent_id = :agent group by state""");

  /** An issue that is in the state already stays as it is. */
  private static final Sql CHANGE =
      Sql.of(
          """
          update issue i set state = :state, regressed = false,
            resolved_at = case when :state = 'resolved' then cast(:now as timestamptz) end,
            resolved_revision = case when :state = 'resolved' then coalesce(
              (select coalesce(a.running_revision, a.revision) from agent a where a.id = i.agent_id), 0) end
          where id = :id and state <> :state
          returning *""");

  private static final Sql OF_AGENT =
      Sql.of(
          """
          select id from issue where agent_id = :agent and state <> 'resolved'
          order by fingerprint for update""");

  private final Database database;
  private final EntityManager entities;
  private final Clock clock;

  Issues(Database database, EntityManager entities, Clock clock) {
    this.database = database;
    this.entities = entities;
    this.clock = clock;
  }

  /**
   * Filters the list; null or empty: no filter.
   *
   * @param executionId the issue of this Execution
   */
  record Filter(List<IssueState> states, String agentId, String reason, String executionId) {
    private Conditions conditions() {
      return new Conditions()
          .in("state", states)
          .and("agent_id = :agent", "agent", agentId)
          .and("reason = :reason", "reason", reason)
          .and(
              "id = (select x.issue_id from issue_execution x where x.execution_id = :execution)",
              "execution",
              executionId);
    }
  }

  /** The newest issues before the cursor: up to {@code limit + 1}. */
  List<Issue> page(Filter filter, String cursor, int limit) {
    Conditions conditions = filter.conditions().and("id < :cursor", "cursor", cursor);
    Sql.Bound select =
        conditions
            .bind(
                "select * from issue where %s order by id desc limit :most"
                    .formatted(conditions.text()))
            .with("most", limit + 1);
    return database.once(connection -> select.list(connection, Issue::read));
  }

  /** The number of issues in each state. */
  Map<IssueState, Integer> counts(String agentId) {
    Map<IssueState, Integer> counts = new EnumMap<>(IssueState.class);
    database.once(
        connection ->
            COUNTS
                .with("agent", agentId)
                .list(
                    connection,
                    row ->
                        counts.put(
                            Code.parse(IssueState.class, row.getString("state")),
                            row.getInt("issues"))));
    return counts;
  }

  /**
   * @throws Problem not_found
   */
  Issue find(String id) {
    return database.once(connection -> find(connection, id));
  }

  private Issue find(Connection connection, String id) throws SQLException {
    Issue issue =
        FIND.with("id", id)
            .first(connection, Issue::read)
            .orElseThrow(() -> Problem.notFound("issue", id));
    Instant from = clock.instant().minus(HOURS_SHOWN);
    return issue.with(
        HOURS.with("id", id).with("from", from).list(connection, Issue.Hour::read),
        REVISIONS.with("id", id).list(connection, Issue.Revision::read));
  }

  /**
   * @throws Problem not_found
   */
  Issue change(String id, IssueState state) {
    return database.inTransaction(
        connection -> {
          change(connection, id, state);
          return find(connection, id);
        });
  }

  private void change(Connection connection, String id, IssueState state) throws SQLException {
    Optional<Issue> changed =
        CHANGE
            .with("id", id)
            .with("state", state)
            .with("now", clock.instant())
            .first(connection, Issue::read);
    if (changed.isPresent()) {
      IssueEvents.changed(connection, changed.get());
    }
  }

  /** Nobody can fix a deleted agent. Its issues stay as long as its executions. */
  void resolveAll(@Observes AgentDeletion deletion) {
    entities
        .unwrap(Session.class)
        .doWork(
            connection -> {
              for (String id : OF_AGENT.with("agent", deletion.agentId()).strings(connection)) {
                change(connection, id, IssueState.RESOLVED);
              }
            });
  }
}
