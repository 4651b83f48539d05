package dev.roost.schedule;

import dev.roost.api.Json;
import dev.roost.db.Sql;
import dev.roost.execution.ScheduledJobs;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The ticker's reads and writes of schedules, in batches. */
final class DueRows {
  /** In the order of a key, so that a schedule that stays due is read once per tick. */
  private static final Sql LOCK =
      Sql.of(
          """
          select id, agent_id, cron, time_zone, missed_runs, missed_runs_limit, overlap, jitter_seconds,
            starts_at, ends_at, next_run_at, due_at
          from schedule
          where due_at <= :now and (due_at, id) > (:due, :id)
          order by due_at, id limit :most
          for no key update skip locked""");

  /** A separate statement after the locks, to see jobs that were created before. */
  private static final Sql OPEN =
      Sql.of(
          """
          select distinct schedule_id from executor_job
          where schedule_id = any(:schedules) and state in ('queued', 'running')
          union
          select schedule_id from executor_job where schedule_id = any(:schedules) and state = 'suspended'""");

  private static final Sql MOVE =
      Sql.of(
          """
          update schedule s set next_run_at = cast(m.next_run_at as timestamptz),
            due_at = cast(m.due_at as timestamptz),
            last_scheduled_time = coalesce(cast(m.last_time as timestamptz), s.last_scheduled_time),
            last_executor_job_id = coalesce(m.last_job, s.last_executor_job_id)
          from unnest(cast(:ids as text[]), cast(:next as text[]), cast(:due as text[]), cast(:times as text[]),
            cast(:jobs as text[])) as m (id, next_run_at, due_at, last_time, last_job)
          where s.id = m.id""");

  private static final Sql PUT_OFF = Sql.of("update schedule set due_at = :due where id = :id");

  private static final Sql EARLIEST =
      Sql.of("select due_at from schedule where due_at > :now order by due_at limit 1");

  private DueRows() {}

  /**
   * Where to continue in the list of due schedules.
   *
   * @param id the last one read of the schedules that are due at that time
   */
  record Cursor(Instant dueAt, String id) {
    static final Cursor START = new Cursor(Instant.EPOCH, "");
  }

  /** A schedule that is due, without its payload. */
  record Row(
      String id,
      String agentId,
      String cron,
      String timeZone,
      Due.Policy policy,
      String overlap,
      double jitterSeconds,
      Instant startsAt,
      Instant endsAt,
      Instant nextRunAt,
      Instant dueAt) {

    private static Row read(ResultSet row) throws SQLException {
      String overlap = row.getString("overlap");
      return new Row(
          row.getString("id"),
          row.getString("agent_id"),
          row.getString("cron"),
          row.getString("time_zone"),
          new Due.Policy(
              row.getString("missed_runs"),
              row.getInt("missed_runs_limit"),
              overlap.equals("skip")),
          overlap,
          row.getDouble("jitter_seconds"),
          Sql.instant(row, "starts_at"),
          Sql.instant(row, "ends_at"),
          Sql.instant(row, "next_run_at"),
          Sql.instant(row, "due_at"));
    }

    Cursor cursor() {
      return new Cursor(dueAt, id);
    }

    Timetable timetable() {
      return new Timetable(
          id, Cron.parse(cron), ZoneId.of(timeZone), startsAt, endsAt, jitterSeconds);
    }
  }

  /** Reads due schedules that are not locked, and locks them until the transaction ends. */
  static List<Row> lock(Connection connection, Instant now, Cursor from, int most)
      throws SQLException {
    return LOCK.with("now", now)
        .with("due", from.dueAt())
        .with("id", from.id())
        .with("most", most)
        .list(connection, Row::read);
  }

  /** The schedules that skip overlapping times and have open jobs. */
  static Set<String> withOpenJobs(Connection connection, List<Row> rows) throws SQLException {
    String[] minding =
        rows.stream()
            .filter(row -> row.policy().skipsOverlap())
            .map(Row::id)
            .toArray(String[]::new);
    if (minding.length == 0) {
      return Set.of();
    }
    return Set.copyOf(OPEN.with("schedules", minding).strings(connection));
  }

  /**
   * A schedule's next state.
   *
   * @param latest the job that was created last; null: none
   */
  record Move(String id, Due due, ScheduledJobs.Submitted latest) {}

  static void move(Connection connection, List<Move> moves) throws SQLException {
    MOVE.with("ids", column(moves, Move::id))
        .with("next", column(moves, move -> time(move.due().nextRunAt())))
        .with("due", column(moves, move -> time(move.due().dueAt())))
        .with(
            "times",
            column(
                moves,
                move ->
                    move.latest() == null ? null : time(move.latest().request().scheduledTime())))
        .with(
            "jobs",
            column(moves, move -> move.latest() == null ? null : move.latest().executorJobId()))
        .update(connection);
  }

  private static String[] column(List<Move> moves, Function<Move, String> value) {
    return moves.stream().map(value).toArray(String[]::new);
  }

  private static String time(Instant time) {
    return time == null ? null : Json.time(time);
  }

  static void putOff(Connection connection, String id, Instant due) throws SQLException {
    PUT_OFF.with("id", id).with("due", due).update(connection);
  }

  /** When the next schedule is due after now. */
  static Optional<Instant> earliest(Connection connection, Instant now) throws SQLException {
    return EARLIEST.with("now", now).first(connection, row -> Sql.instant(row, "due_at"));
  }
}
