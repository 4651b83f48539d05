package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * Events that scripts wait for. Each is received by one wait: the first that waits for its name in
 * the job that it was sent to, or for its name and key in any job; or the first that comes.
 *
 * <p>What sends an event and what begins to wait lock the same rows, so that one of them sees the
 * other: the job, and before it the key, of which there may be no row, by an advisory lock.
 */
@ApplicationScoped
public class JobEvents {
  static final int MOST_NAME_CHARACTERS = 200;
  static final int MOST_KEY_CHARACTERS = 200;
  private static final double MOST_SECONDS = 1e9;

  /** Separates the parts of what an advisory lock is for. */
  private static final char SEPARATOR = '\n';

  private static final Sql LOCK_KEY =
      Sql.of("select pg_advisory_xact_lock(hashtextextended(:text, 34))::text as locked");

  private static final Sql LOCK_OWNER = Sql.of("with " + JobSteps.OWNER + " select job from owner");

  private static final Sql LOCK_JOB =
      Sql.of("select id, state, finished_at from executor_job where id = :job for update");

  private static final Sql SAVE_WAIT =
      Sql.of(
          """
          with saved as (
            insert into executor_job_step (executor_job_id, seq, path, name, execution_id, attempts, seconds,
              finished_at, kind, event_name, event_key, until, total_bytes)
            select o.job, :seq, :path, :name, :execution, 1, 0, statement_timestamp(), 'event', :event, :key,
              statement_timestamp() + cast(:timeout as float8) * interval '1 second', coalesce(b.total_bytes, 0)
            from (select cast(:job as text) as job) o
            left join executor_job_step b on b.executor_job_id = o.job and b.seq = :seq - 1
            where :seq = 1 or b.seq is not null
            on conflict do nothing returning seq)
          select exists (select from saved) as saved, true as granted""");

  /** An event that has come before the wait. */
  private static final Sql RECEIVE_EARLY =
      Sql.of(
          """
          with early as (
            select id from (
              (select id from job_event where received_at is null and executor_job_id = :job and name = :event
                 and expires_at > now() order by id limit 1)
              union all
              (select id from job_event where received_at is null and key = :key and name = :event
                 and expires_at > now() order by id limit 1)) each
            order by id limit 1),
          received as (
            update job_event e set received_at = now(), executor_job_id = :job, seq = :seq
            from early where e.id = early.id returning e.data)
          update executor_job_step s set result = r.data, seconds = 0, finished_at = now()
          from received r where s.executor_job_id = :job and s.seq = :seq""");

  /** Of several entries with the same path, the last one counts. */
  private static final String OPEN =
      """
      s.kind = 'event' and s.result is null and s.error_type is null and (s.until is null or s.until > now())
      and not exists (
        select from executor_job_step l where l.executor_job_id = s.executor_job_id and l.path = s.path and l.seq > s.seq)
      """;

  private static final Sql WAITS_FOR_KEY =
      Sql.of(
          """
          select s.executor_job_id from executor_job_step s join executor_job j on j.id = s.executor_job_id
          where s.event_key = :key and s.event_name = :event and j.finished_at is null and
          """
              + OPEN
              + " order by s.finished_at, s.executor_job_id, s.seq limit 1");

  private static final Sql DELIVER =
      Sql.of(
          """
          with wait as (
            select s.seq from executor_job_step s
            where s.executor_job_id = :job and s.event_name = :event and (cast(:key as text) is null or s.event_key = :key) and
          """
              + OPEN
              + """
                order by s.seq limit 1),
              taken as (
                update executor_job_step s set result = :data,
                  seconds = extract(epoch from now() - s.finished_at), finished_at = now() from wait w
                where s.executor_job_id = :job and s.seq = w.seq and s.result is null and s.error_type is null
                returning s.seq),
              received as (
                update job_event e set received_at = greatest(now(), e.created_at), executor_job_id = :job, seq = t.seq
                from taken t where e.id = :id),
              resumed as (
                update executor_job j set resume_at = now() from taken t where j.id = :job and j.state = 'suspended')
              select exists (select from wait) as found, exists (select from taken) as taken""");

  private static final Sql INSERT =
      Sql.of(
          """
          insert into job_event (id, name, executor_job_id, key, data, created_at, expires_at, idempotency_key)
          values (:id, :event, :job, :key, :data, :now, :expires, :idempotency) on conflict do nothing""");

  private static final Sql REPEATED =
      Sql.of(
          """
          select e.*, e.data = :data and e.key is not distinct from :key
              and (e.key is not null or e.executor_job_id = :job) as same
          from job_event e where e.idempotency_key = :idempotency and e.name = :event""");

  private static final Sql WAITING_EVENTS =
      Sql.of(
          """
          select (
            select count(*) from (
              select from job_event where received_at is null and executor_job_id = :job and name = :event
              limit :most) of_job)
            + (
            select count(*) from (
              select from job_event where received_at is null and key = :key and name = :event
              limit :most) of_key) as number""");

  private static final Sql ROW = Sql.of("select * from job_event where id = :id");

  private final Database database;
  private final RoostConfig config;
  private final Storage storage;
  private final JobSteps steps;
  private final SuspendedJobs suspended;
  private final Clock clock;

  JobEvents(
      Database database,
      RoostConfig config,
      Storage storage,
      JobSteps steps,
      SuspendedJobs suspended,
      Clock clock) {
    this.database = database;
    this.config = config;
    this.storage = storage;
    this.steps = steps;
    this.suspended = suspended;
    this.clock = clock;
  }

  /** An event as the API shows it. */
  @Schema(name = "JobEvent")
  public record JobEvent(
      String id,
      @Schema(description = "The name that scripts wait for") String name,
      @Schema(
              nullable = true,
              description = "The key that scripts wait for; null if it was sent to a job")
          String key,
      @Schema(ref = "JsonText", description = "What request.wait_for_event returns") JsonText data,
      @Schema(
              nullable = true,
              description =
                  "The ExecutorJob that it was sent to, or that has received it; null of one with a key that "
                      + "nobody has received")
          String executorJobId,
      @Schema(nullable = true, description = "When a script's wait got it; null before")
          Instant receivedAt,
      Instant createdAt,
      @Schema(description = "When it is removed") Instant expiresAt) {
    static JobEvent read(ResultSet row) throws SQLException {
      return new JobEvent(
          row.getString("id"),
          row.getString("name"),
          row.getString("key"),
          JsonText.ofNullable(row.getString("data")),
          row.getString("executor_job_id"),
          Sql.instant(row, "received_at"),
          Sql.instant(row, "created_at"),
          Sql.instant(row, "expires_at"));
    }
  }

  /**
   * What is sent.
   *
   * @param job that it is for; null if it has a key
   * @param key null if it is for a job
   * @param data JSON text
   * @param idempotencyKey or null
   */
  record Message(String name, String job, String key, String data, String idempotencyKey) {}

  /**
   * @param repeated whether an earlier request with the same idempotency key has sent it
   */
  record Sent(JobEvent event, boolean repeated) {}

  /**
   * Sends an event. It is stored until a script waits for it, or until it expires.
   *
   * @throws Problem not_found; conflict: the job has ended; too_large; storage_full;
   *     idempotency_key_reused
   */
  Sent send(Message message) {
    storage.require(Storage.Area.PAYLOADS);
    Sent sent = database.inTransaction(connection -> send(connection, message));
    if (!sent.repeated() && sent.event().receivedAt() != null) {
      suspended.wake();
    }
    return sent;
  }

  private Sent send(Connection connection, Message message) throws SQLException {
    if (message.key() == null) {
      requireOpen(connection, message.job());
    } else {
      lockKey(connection, message.name(), message.key());
    }
    String id = Ids.next("jevent");
    Instant now = clock.instant();
    int inserted =
        bind(INSERT, message)
            .with("id", id)
            .with("now", now)
            .with("expires", now.plus(config.retention().jobEvents()))
            .update(connection);
    if (inserted == 0) {
      return new Sent(repeated(connection, message), true);
    }
    if (!deliver(connection, message, id)) {
      requireRoom(connection, message);
    }
    return new Sent(ROW.with("id", id).first(connection, JobEvent::read).orElseThrow(), false);
  }

  private static Sql.Bound bind(Sql statement, Message message) {
    return statement
        .with("event", message.name())
        .with("job", message.job())
        .with("key", message.key())
        .with("data", message.data())
        .with("idempotency", message.idempotencyKey());
  }

  /** Gives it to the first wait; false if there is none. */
  private static boolean deliver(Connection connection, Message message, String id)
      throws SQLException {
    record Delivery(boolean found, boolean taken) {}
    while (true) {
      String job = message.job();
      if (job == null) {
        Optional<String> waiting =
            WAITS_FOR_KEY
                .with("event", message.name())
                .with("key", message.key())
                .first(connection, row -> row.getString("executor_job_id"));
        if (waiting.isEmpty()) {
          return false;
        }
        job = waiting.get();
        Optional<Job> locked = lock(connection, job);
        if (locked.isEmpty() || locked.get().ended()) {
          continue; // Since the look at it, which is repeated.
        }
      }
      Delivery delivery =
          DELIVER
              .with("job", job)
              .with("event", message.name())
              .with("key", message.key())
              .with("data", message.data())
              .with("id", id)
              .first(
                  connection, row -> new Delivery(row.getBoolean("found"), row.getBoolean("taken")))
              .orElseThrow();
      if (delivery.taken()) {
        return true;
      }
      if (message.job() != null && !delivery.found()) {
        return false;
      }
      // Its time-out came first; there may be another one.
    }
  }

  private void requireRoom(Connection connection, Message message) throws SQLException {
    int most = config.limits().waitingEvents();
    int number =
        WAITING_EVENTS
            .with("event", message.name())
            .with("job", message.job())
            .with("key", message.key())
            .with("most", most + 1)
            .first(connection, row -> row.getInt("number"))
            .orElseThrow();
    if (number > most) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          ("%,d events %s are stored that no script has received, and that is the limit "
                  + "(setting roost.limits.waiting-events).")
              .formatted(most, message.name()));
    }
  }

  private static JobEvent repeated(Connection connection, Message message) throws SQLException {
    record Earlier(JobEvent event, boolean same) {}
    Earlier earlier =
        bind(REPEATED, message)
            .first(connection, row -> new Earlier(JobEvent.read(row), row.getBoolean("same")))
            .orElseThrow();
    if (!earlier.same()) {
      throw Problem.of(
          ErrorCode.IDEMPOTENCY_KEY_REUSED,
          "The Idempotency-Key was used for another event. Use a new key for each event.");
    }
    return earlier.event();
  }

  private record Job(String state, boolean ended) {}

  private static Optional<Job> lock(Connection connection, String job) throws SQLException {
    return LOCK_JOB
        .with("job", job)
        .first(
            connection,
            row -> new Job(row.getString("state"), row.getTimestamp("finished_at") != null));
  }

  private static void requireOpen(Connection connection, String job) throws SQLException {
    Job locked = lock(connection, job).orElseThrow(() -> Problem.notFound("ExecutorJob", job));
    if (locked.ended()) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "The job has ended (%s); nothing waits for the event.".formatted(locked.state()));
    }
  }

  private static void lockKey(Connection connection, String name, String key) throws SQLException {
    LOCK_KEY.with("text", name + SEPARATOR + key).list(connection, row -> null);
  }

  /** A script begins to wait; an event that has come before is its outcome at once. */
  Object await(String executorId, String executionId, Body body) {
    JobSteps.Place place = steps.place(body);
    String event = JobSteps.text(body, "event", MOST_NAME_CHARACTERS).orElse(null);
    String key = JobSteps.text(body, "key", MOST_KEY_CHARACTERS).orElse(null);
    Double timeout = body.number("timeout", 0, MOST_SECONDS).orElse(null);
    body.require("event");
    body.check();
    JobSteps.Saved outcome =
        database.inTransaction(
            connection -> {
              String job =
                  LOCK_OWNER
                      .with("execution", executionId)
                      .with("executor", executorId)
                      .first(connection, row -> row.getString("job"))
                      .orElseThrow(JobSteps::fenced);
              if (key != null) {
                lockKey(connection, event, key);
              }
              lock(connection, job);
              JobSteps.Saved saved =
                  SAVE_WAIT
                      .with("job", job)
                      .with("execution", executionId)
                      .with("seq", place.seq())
                      .with("path", place.path())
                      .with("name", place.name())
                      .with("event", event)
                      .with("key", key)
                      .with("timeout", timeout)
                      .first(connection, JobSteps.Saved::read)
                      .orElseThrow();
              if (saved.saved()) {
                RECEIVE_EARLY
                    .with("job", job)
                    .with("seq", place.seq())
                    .with("event", event)
                    .with("key", key)
                    .update(connection);
              }
              return saved;
            });
    steps.check(outcome, executionId, place.seq(), place.path(), 0);
    return Map.of();
  }
}
