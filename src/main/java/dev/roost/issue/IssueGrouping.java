package dev.roost.issue;

import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.db.Code;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.event.EventLog;
import dev.roost.state.ExecutionState;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Groups failed executions into issues, after they are committed: first the failures from before
 * issues existed, oldest first, then those in the log of events. So the end of an execution does
 * nothing for issues, and a thousand failures of one cause don't wait for one row.
 *
 * <p>The position in the log moves in the transaction that counts the failures, by compare-and-set,
 * so that each failure is counted once, also while two replicas believe that they lead. The row of
 * {@code issue_execution} keeps a failure from being counted again when it is met both ways.
 */
@ApplicationScoped
class IssueGrouping {
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** The text of an exception and its traceback may have some hundred kilobytes. */
  static final int BATCH = 100;

  private static final List<ExecutionState> FAILED =
      List.of(ExecutionState.FAILED, ExecutionState.TIMED_OUT, ExecutionState.LOST);

  private static final EventLog.Filter FAILURES =
      new EventLog.Filter(
          Code.of(FAILED).stream().map(state -> "execution." + state).toList(), null, null);

  private static final Sql PROGRESS =
      Sql.of("select position, past_time, past_id, begun_at from issue_progress");

  private static final Sql MOVE =
      Sql.of("update issue_progress set position = :next where position = :position");

  private static final Sql MOVE_PAST =
      Sql.of(
          """
          update issue_progress set past_time = cast(:nextTime as timestamptz), past_id = :nextId
          where past_time = :time and past_id = :id""");

  /** After events were deleted that nobody had read: the executions say what they said. */
  private static final Sql START_AGAIN =
      Sql.of(
          """
          update issue_progress set position = :latest, past_time = 'epoch', past_id = ''
          where position = :position""");

  private static final Sql NEW_FAILURES =
      Sql.of(
          """
          select e.id, e.executor_job_id, e.agent_id, e.agent_revision, e.reason, e.message, e.error,
            e.started_at, e.finished_at
          from execution e
          where e.id = any(:ids) and e.reason is not null and not e.draft
            and not exists (select 1 from issue_execution i where i.execution_id = e.id)
          order by e.finished_at, e.id""");

  static final Sql PAST =
      Sql.of(
          """
          select id, finished_at from execution
          where state in ('failed', 'timed_out', 'lost') and not draft and finished_at >= :time and (finished_at, id) > (:time, :id)
          order by finished_at, id limit :limit""");

  private final Database database;
  private final EventLog events;
  private final ThrottledBatches past;
  private final Replicas replicas;
  private final Loop loop;
  private volatile boolean stopping;

  IssueGrouping(Database database, EventLog events, Replicas replicas, Loops loops) {
    this.database = database;
    this.events = events;
    this.replicas = replicas;
    this.past = new ThrottledBatches(database, replicas::isHeld);
    this.loop = loops.make("issues", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    past.stop();
    loop.stop();
  }

  private Duration pass() {
    try {
      while (!stopping && replicas.isHeld() && step()) {
        // Until nothing is left.
      }
    } catch (ThrottledBatches.Interrupted e) {
      // Another replica continues, or this one when it leads again.
    }
    return PAUSE;
  }

  /**
   * @param pastTime null: all past failures are grouped
   */
  private record Progress(long position, Instant pastTime, String pastId, Instant begunAt) {}

  private record Past(String id, Instant finishedAt) {}

  /** Groups up to {@link #BATCH} failures; returns whether there may be more. */
  boolean step() {
    Progress progress =
        database.once(
            connection ->
                PROGRESS
                    .with()
                    .first(
                        connection,
                        row ->
                            new Progress(
                                row.getLong("position"),
                                Sql.instant(row, "past_time"),
                                row.getString("past_id"),
                                Sql.instant(row, "begun_at")))
                    .orElseThrow());
    if (progress.pastTime() != null) {
      return past.step(connection -> groupPast(connection, progress));
    }
    if (events.hasRemovedAfter(progress.position())) {
      long latest = events.latest();
      return database.inTransaction(
          connection ->
              START_AGAIN
                      .with("latest", latest)
                      .with("position", progress.position())
                      .update(connection)
                  > 0);
    }
    EventLog.Part part = events.read(progress.position(), BATCH, FAILURES);
    if (part.next() == progress.position()) {
      return false;
    }
    List<String> ids = part.entries().stream().map(EventLog.Entry::subject).toList();
    return database.inTransaction(
        connection -> {
          Sql.Bound move = MOVE.with("next", part.next()).with("position", progress.position());
          if (move.update(connection) > 0) {
            group(connection, ids, progress.begunAt());
          }
          return ids.size() == BATCH;
        });
  }

  private static boolean groupPast(Connection connection, Progress progress) throws SQLException {
    List<Past> past =
        PAST.with("time", progress.pastTime())
            .with("id", progress.pastId())
            .with("limit", BATCH)
            .list(
                connection, row -> new Past(row.getString("id"), Sql.instant(row, "finished_at")));
    Past last = past.isEmpty() ? new Past("", null) : past.get(past.size() - 1);
    Sql.Bound move =
        MOVE_PAST
            .with("nextTime", last.finishedAt())
            .with("nextId", last.id())
            .with("time", progress.pastTime())
            .with("id", progress.pastId());
    if (move.update(connection) > 0) {
      group(connection, past.stream().map(Past::id).toList(), progress.begunAt());
    }
    return true;
  }

  private static void group(Connection connection, List<String> ids, Instant notifiesFrom)
      throws SQLException {
    List<Failure> failures =
        ids.isEmpty()
            ? List.of()
            : NEW_FAILURES.with("ids", ids.toArray(String[]::new)).list(connection, Failure::read);
    for (FailureGroup group : FailureGroup.of(failures)) {
      IssueWrites.add(connection, group, notifiesFrom);
    }
  }
}
