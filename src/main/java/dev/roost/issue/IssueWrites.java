package dev.roost.issue;

import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Adds failures to their issues, in the caller's transaction. */
final class IssueWrites {
  private static final Sql HOLD =
      Sql.of(
          """
          select id, state, resolved_at, resolved_revision from issue where fingerprint = :fingerprint for update""");

  private static final Sql OPEN =
      Sql.of(
          """
          insert into issue (id, agent_id, fingerprint, state, title, reason, exception_type, function, line, failures,
            first_seen_at, last_seen_at, first_revision, last_revision, last_execution_id)
          values (:id, :agent, :fingerprint, 'open', :title, :reason, cast(:type as text), cast(:function as text),
            cast(:line as integer), :failures, :first, :last, :least, :greatest, :execution)
          returning *""");

  /** What is shown of the latest failure stays when the new ones are older. */
  private static final Sql ADD =
      Sql.of(
          """
          update issue set state = :state, regressed = regressed or :regresses,
            resolved_at = case when :regresses then null else resolved_at end,
            failures = failures + :failures,
            title = case when :last >= last_seen_at then :title else title end,
            function = case when :last >= last_seen_at then cast(:function as text) else function end,
            line = case when :last >= last_seen_at then cast(:line as integer) else line end,
            last_execution_id = case when :last >= last_seen_at then :execution else last_execution_id end,
            first_seen_at = least(first_seen_at, :first), last_seen_at = greatest(last_seen_at, :last),
            first_revision = least(first_revision, :least), last_revision = greatest(last_revision, :greatest)
          where id = :id
          returning *""");

  private static final Sql EXECUTIONS =
      Sql.of(
          """
          insert into issue_execution (execution_id, issue_id, executor_job_id, finished_at)
          select e.execution_id, :issue, e.executor_job_id, e.finished_at
          from unnest(:executions, :jobs, :times) e (execution_id, executor_job_id, finished_at)""");

  private static final Sql HOUR =
      Sql.of(
          """
          insert into issue_hour (issue_id, hour, failures) values (:issue, :hour, :failures)
          on conflict (issue_id, hour) do update set failures = issue_hour.failures + excluded.failures
          returning failures""");

  private static final Sql REVISION =
      Sql.of(
          """
          insert into issue_revision as r (issue_id, revision, failures, first_seen_at, last_seen_at)
          values (:issue, :revision, :failures, :first, :last)
          on conflict (issue_id, revision) do update set failures = r.failures + excluded.failures,
            first_seen_at = least(r.first_seen_at, excluded.first_seen_at),
            last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at)""");

  private IssueWrites() {}

  private record Held(String id, IssueState state, Instant resolvedAt, int resolvedRevision) {}

  /**
   * @param group failures that are in no issue yet
   * @param notifiesFrom failures that ended before raise no events
   */
  static void add(Connection connection, FailureGroup group, Instant notifiesFrom)
      throws SQLException {
    Optional<Held> held =
        HOLD.with("fingerprint", group.fingerprint())
            .first(
                connection,
                row ->
                    new Held(
                        row.getString("id"),
                        Code.parse(IssueState.class, row.getString("state")),
                        Sql.instant(row, "resolved_at"),
                        row.getInt("resolved_revision")));
    boolean notifies = group.hasOneSince(notifiesFrom);
    Issue issue;
    if (held.isEmpty()) {
      issue = open(connection, group);
      if (notifies) {
        IssueEvents.note(connection, IssueEvents.OPENED, issue);
      }
    } else {
      boolean regresses =
          held.get().state() == IssueState.RESOLVED
              && group.regresses(held.get().resolvedAt(), held.get().resolvedRevision());
      issue = add(connection, group, held.get(), regresses);
      if (regresses && notifies) {
        IssueEvents.note(connection, IssueEvents.REGRESSED, issue);
      }
    }
    long inHour = count(connection, issue.id(), group);
    if (notifies && issue.state() == IssueState.OPEN && IssueGrowth.mayBe(inHour)) {
      IssueGrowth.note(connection, issue, group.latest().finishedAt());
    }
  }

  private static Issue open(Connection connection, FailureGroup group) throws SQLException {
    return bind(OPEN, group)
        .with("id", group.id())
        .with("agent", group.latest().agentId())
        .with("fingerprint", group.fingerprint())
        .with("reason", group.latest().reason())
        .with("type", group.latest().exceptionType())
        .first(connection, Issue::read)
        .orElseThrow();
  }

  private static Issue add(Connection connection, FailureGroup group, Held held, boolean regresses)
      throws SQLException {
    return bind(ADD, group)
        .with("id", held.id())
        .with("state", regresses ? IssueState.OPEN : held.state())
        .with("regresses", regresses)
        .first(connection, Issue::read)
        .orElseThrow();
  }

  private static Sql.Bound bind(Sql statement, FailureGroup group) {
    Failure latest = group.latest();
    return statement
        .with("title", latest.title())
        .with("function", latest.function())
        .with("line", latest.line())
        .with("failures", group.failures().size())
        .with("first", group.first().finishedAt())
        .with("last", latest.finishedAt())
        .with("least", group.failures().stream().mapToInt(Failure::revision).min().orElseThrow())
        .with("greatest", group.failures().stream().mapToInt(Failure::revision).max().orElseThrow())
        .with("execution", latest.executionId());
  }

  /** Returns the number of failures in the latest hour. */
  private static long count(Connection connection, String issue, FailureGroup group)
      throws SQLException {
    List<Failure> failures = group.failures();
    EXECUTIONS
        .with("issue", issue)
        .with("executions", failures.stream().map(Failure::executionId).toArray(String[]::new))
        .with("jobs", failures.stream().map(Failure::executorJobId).toArray(String[]::new))
        .with("times", failures.stream().map(Failure::finishedAt).toArray(Instant[]::new))
        .update(connection);
    long inHour = 0;
    for (Map.Entry<Instant, List<Failure>> hour : group.byHour().entrySet()) {
      inHour =
          HOUR.with("issue", issue)
              .with("hour", hour.getKey())
              .with("failures", hour.getValue().size())
              .first(connection, row -> row.getLong("failures"))
              .orElseThrow();
    }
    for (Map.Entry<Integer, List<Failure>> revision : group.byRevision().entrySet()) {
      List<Failure> those = revision.getValue();
      REVISION
          .with("issue", issue)
          .with("revision", revision.getKey())
          .with("failures", those.size())
          .with("first", those.get(0).finishedAt())
          .with("last", those.get(those.size() - 1).finishedAt())
          .update(connection);
    }
    return inHour;
  }
}
