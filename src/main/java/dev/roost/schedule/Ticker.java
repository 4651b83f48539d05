package dev.roost.schedule;

import dev.roost.db.Database;
import dev.roost.execution.ScheduledJobs;
import dev.roost.execution.ScheduledJobs.Request;
import dev.roost.execution.ScheduledJobs.Result;
import dev.roost.execution.ScheduledJobs.Submitted;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Creates the jobs of schedules that are due. Any number of tickers can work on one database: each
 * takes schedules that no other ticker has locked, creates their jobs and moves them on in one
 * transaction. So each scheduled time is handled exactly once; after a failed transaction, it is
 * tried again.
 *
 * <p>Independent of Quarkus, so that tests can run many tickers, and kill them.
 */
final class Ticker {
  private static final Logger LOG = Logger.getLogger(Ticker.class);

  /**
   * The maximum number of schedules in one transaction; {@link #MOST_JOBS} limits the jobs, except
   * those of one schedule.
   */
  private static final int BATCH = 200;

  private static final int MOST_JOBS = 2_000;

  /** When to retry a schedule that can't be parsed, for example after a downgrade. */
  private static final Duration PUT_OFF = Duration.ofMinutes(1);

  private final Database database;
  private final TickClock clock;
  private final Settings settings;
  private final Consumer<List<Submitted>> afterCommit;
  private final Consumer<Duration> late;

  /**
   * @param missedAfter how long a time may have been due without being missed
   * @param queuedJobs the maximum number of an agent's queued jobs
   */
  record Settings(Duration missedAfter, IntSupplier queuedJobs) {
    Settings(Duration missedAfter, int queuedJobs) {
      this(missedAfter, () -> queuedJobs);
    }
  }

  /**
   * @param afterCommit receives the submitted jobs; must return quickly
   * @param late receives how long after its due time each schedule's jobs were created
   */
  Ticker(
      Database database,
      TickClock clock,
      Settings settings,
      Consumer<List<Submitted>> afterCommit,
      Consumer<Duration> late) {
    this.late = late;
    this.database = database;
    this.clock = clock;
    this.settings = settings;
    this.afterCommit = afterCommit;
  }

  /**
   * Submits the jobs that are due.
   *
   * @return how long until another schedule is due; empty: none is. A schedule that stays due,
   *     since its agent's queue is full or another ticker has locked it, waits for the next tick.
   * @throws Database.Failure committed jobs stay, the next tick creates the others
   */
  Optional<Duration> tick() {
    DueRows.Cursor cursor = DueRows.Cursor.START;
    while (true) {
      DueRows.Cursor from = cursor;
      Batch batch = database.inTransaction(connection -> batch(connection, from));
      if (!batch.created().isEmpty()) {
        afterCommit.accept(batch.created());
        batch.late().forEach(late);
      }
      if (batch.next() == null) {
        break;
      }
      cursor = batch.next();
    }
    return database.once(
        connection -> {
          Instant now = clock.now(connection);
          return DueRows.earliest(connection, now).map(due -> Duration.between(now, due));
        });
  }

  /**
   * @param late how long ago each schedule with jobs in this batch was due
   * @param next where to continue; null at the end
   */
  private record Batch(List<Submitted> created, List<Duration> late, DueRows.Cursor next) {}

  /** What to do about one schedule. */
  private record Decision(DueRows.Row row, Timetable timetable, Due due) {}

  private Batch batch(Connection connection, DueRows.Cursor from) throws SQLException {
    Instant now = clock.now(connection);
    List<DueRows.Row> rows = DueRows.lock(connection, now, from, BATCH);
    if (rows.isEmpty()) {
      return new Batch(List.of(), List.of(), null);
    }
    Set<String> open = DueRows.withOpenJobs(connection, rows);
    List<Decision> decisions = new ArrayList<>();
    List<Request> requests = new ArrayList<>();
    DueRows.Row last = null;
    for (DueRows.Row row : rows) {
      if (requests.size() >= MOST_JOBS) {
        break;
      }
      last = row;
      Optional<Decision> decision = decide(row, now, open.contains(row.id()));
      if (decision.isEmpty()) {
        DueRows.putOff(connection, row.id(), now.plus(PUT_OFF));
        continue;
      }
      decisions.add(decision.get());
      String key = Schedule.concurrencyKey(row.id(), row.overlap());
      for (Instant time : decision.get().due().times()) {
        requests.add(new Request(row.id(), row.agentId(), time, key));
      }
    }
    List<Submitted> submitted =
        requests.isEmpty()
            ? List.of()
            : ScheduledJobs.submit(connection, requests, settings.queuedJobs().getAsInt(), now);
    moveOn(connection, decisions, submitted);
    boolean more = rows.size() == BATCH || last != rows.get(rows.size() - 1);
    List<Submitted> created =
        submitted.stream().filter(one -> one.result() == Result.CREATED).toList();
    Set<String> withJobs =
        created.stream().map(one -> one.request().scheduleId()).collect(Collectors.toSet());
    return new Batch(
        created,
        rows.stream()
            .filter(row -> withJobs.contains(row.id()))
            .map(row -> Duration.between(row.dueAt(), now))
            .toList(),
        more ? last.cursor() : null);
  }

  private Optional<Decision> decide(DueRows.Row row, Instant now, boolean isOpen) {
    try {
      Timetable timetable = row.timetable();
      Due due =
          Due.at(now, timetable, row.nextRunAt(), row.policy(), isOpen, settings.missedAfter());
      return Optional.of(new Decision(row, timetable, due));
    } catch (RuntimeException e) {
      LOG.errorf(e, "schedule %s cannot be parsed; next attempt in %s", row.id(), PUT_OFF);
      return Optional.empty();
    }
  }

  /** A schedule whose agent's queue is full stays due, for the next tick. */
  private static void moveOn(
      Connection connection, List<Decision> decisions, List<Submitted> submitted)
      throws SQLException {
    Map<String, Instant> queueFull = new HashMap<>();
    Map<String, Submitted> latest = new HashMap<>();
    for (Submitted one : submitted) {
      String schedule = one.request().scheduleId();
      if (one.result() == Result.QUEUE_FULL) {
        queueFull.putIfAbsent(schedule, one.request().scheduledTime());
      } else if (one.result() == Result.CREATED) {
        latest.put(schedule, one);
      }
    }
    List<DueRows.Move> moves = new ArrayList<>();
    for (Decision decision : decisions) {
      DueRows.Row row = decision.row();
      Instant first = queueFull.get(row.id());
      Due done = first == null ? decision.due() : decision.due().until(first, decision.timetable());
      for (Due.Skipped run : done.skipped()) {
        SkippedEvents.note(connection, row.id(), row.agentId(), run);
      }
      moves.add(new DueRows.Move(row.id(), done, latest.get(row.id())));
    }
    DueRows.move(connection, moves);
  }
}
