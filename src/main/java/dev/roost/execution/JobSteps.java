package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The histories of jobs: durable steps and sleeps. Only a running execution may use them, on its
 * own executor, so the history of a job has one writer at a time.
 */
@ApplicationScoped
class JobSteps {
  private static final int MOST_PATH_CHARACTERS = 4_000;
  private static final int MOST_NAME_CHARACTERS = 200;
  private static final int MOST_ERROR_CHARACTERS = 70_000;
  private static final int MOST_ATTEMPTS = 1_000;
  private static final double MOST_SECONDS = 1e9;

  /** Of one page for an executor. */
  private static final int PAGE_ROWS = 1_000;

  private static final int PAGE_BYTES = 4 << 20;

  /** The lock makes the execution's end wait for the step, or the step see the end. */
  static final String OWNER =
      """
      owner as materialized (
        select x.executor_job_id as job from execution x
        where x.id = :execution and x.executor_id = :executor and x.state = 'running' for share)""";

  private static final Sql SAVE =
      Sql.of(
          "with "
              + OWNER
              + """
              ,
              place as (
                select o.job, coalesce(b.total_bytes, 0) + :bytes as total_bytes
                from owner o left join executor_job_step b on b.executor_job_id = o.job and b.seq = :seq - 1
                where (:seq = 1 or b.seq is not null) and coalesce(b.total_bytes, 0) + :bytes <= :mostBytes),
              saved as (
                insert into executor_job_step (executor_job_id, seq, path, name, execution_id, result, error_type,
                  error_message, error_traceback, error_arguments, attempts, seconds, finished_at, total_bytes, emitted)
                select p.job, :seq, :path, :name, :execution, cast(:result as text), cast(:type as text),
                  cast(:message as text), cast(:traceback as text), cast(:arguments as text), :attempts, :seconds,
                  statement_timestamp(), p.total_bytes, :emitted
                from place p on conflict do nothing returning seq)
              select exists (select from saved) as saved, exists (select from owner) as granted""");

  private static final Sql SAVE_TIMER =
      Sql.of(
          "with "
              + OWNER
              + """
              ,
              saved as (
                insert into executor_job_step (executor_job_id, seq, path, name, execution_id, attempts, seconds,
                  finished_at, until, total_bytes)
                select o.job, :seq, :path, :name, :execution, 1, 0, statement_timestamp(), :until,
                  coalesce(b.total_bytes, 0)
                from owner o left join executor_job_step b on b.executor_job_id = o.job and b.seq = :seq - 1
                where :seq = 1 or b.seq is not null
                on conflict do nothing returning seq)
              select exists (select from saved) as saved, exists (select from owner) as granted""");

  /** Why a step was not saved. */
  private static final Sql REFUSED =
      Sql.of(
          """
          select coalesce(s.execution_id = x.id and s.path = :path, false) as repeated, s.seq is not null as taken,
            coalesce(b.total_bytes, 0) as bytes
          from execution x
          left join executor_job_step s on s.executor_job_id = x.executor_job_id and s.seq = :seq
          left join executor_job_step b on b.executor_job_id = x.executor_job_id and b.seq = :seq - 1
          where x.id = :execution""");

  private static final Sql PAGE =
      Sql.of(
          "with "
              + OWNER
              + """

              select exists (select from owner) as granted, s.seq, s.path, s.name, s.execution_id, s.result, s.error_type,
                s.error_message, s.error_arguments, s.open, s.until, s.kind,
                -- Values of earlier attempts are not of this one's stream.
                case when s.emitted > 0 and exists (
                  select from execution w, execution r
                  where w.id = s.execution_id and r.id = :execution and w.attempt = r.attempt)
                then s.emitted end as emitted
              from (select 1) one left join lateral (
                select s.*, sum(octet_length(coalesce(s.result, ''))) over (order by s.seq) as bytes
                from executor_job_step s
                where s.executor_job_id = (select job from owner) and s.seq > :after order by s.seq limit :most) s
                on s.bytes - octet_length(coalesce(s.result, '')) < :bytes
              order by s.seq""");

  private static final Sql REOPEN =
      Sql.of(
          "with "
              + OWNER
              + """
              ,
              opened as (
                update executor_job_step s set open = true from owner o
                where s.executor_job_id = o.job and s.seq = any(:seqs) and s.error_type is not null returning 1)
              select exists (select from owner) as granted, (select count(*) from opened) as opened""");

  private final Database database;
  private final RoostConfig.Limits limits;
  private final Storage storage;

  JobSteps(Database database, RoostConfig config, Storage storage) {
    this.database = database;
    this.limits = config.limits();
    this.storage = storage;
  }

  Object save(String executorId, String executionId, Body body) {
    int number = body.integer("seq", 1, Integer.MAX_VALUE).orElse(1);
    String path = text(body, "path", MOST_PATH_CHARACTERS).orElse(null);
    String name = text(body, "name", MOST_NAME_CHARACTERS).orElse(null);
    String result = json(body, "result");
    String type = ofException(body, "error_type");
    String message = ofException(body, "error_message");
    String traceback = ofException(body, "error_traceback");
    String arguments = json(body, "error_arguments");
    int attempts = body.integer("attempts", 1, MOST_ATTEMPTS).orElse(1);
    double seconds = body.number("seconds", 0, MOST_SECONDS).orElse(0.0);
    int emitted = body.integer("emitted", 0, Integer.MAX_VALUE).orElse(0);
    for (String required : List.of("seq", "path", "name", "attempts", "seconds")) {
      body.require(required);
    }
    if ((result == null) == (type == null)) {
      body.reject("result", "required", "Either result or error_type is required.");
    }
    body.check();
    requireRoom(number);
    storage.require(Storage.Area.PAYLOADS);
    long bytes = bytes(path, name, result, message, traceback, arguments);
    Sql.Bound save =
        SAVE.with("execution", executionId)
            .with("executor", executorId)
            .with("seq", number)
            .with("path", path)
            .with("name", name)
            .with("result", result)
            .with("type", type)
            .with("message", type == null || message != null ? message : "")
            .with("traceback", traceback)
            .with("arguments", arguments)
            .with("attempts", attempts)
            .with("seconds", seconds)
            .with("bytes", bytes)
            .with("emitted", emitted)
            .with("mostBytes", limits.stepBytes());
    store(save, executionId, number, path, bytes);
    return Map.of();
  }

  /** Where an entry belongs in the history, and in the script. */
  record Place(int seq, String path, String name) {}

  /** Reads the fields of a wait; the caller checks the body. */
  Place place(Body body) {
    int number = body.integer("seq", 1, Integer.MAX_VALUE).orElse(1);
    String path = text(body, "path", MOST_PATH_CHARACTERS).orElse(null);
    String name = text(body, "name", MOST_NAME_CHARACTERS).orElse(null);
    for (String required : List.of("seq", "path", "name")) {
      body.require(required);
    }
    requireRoom(number);
    return new Place(number, path, name);
  }

  Object saveTimer(String executorId, String executionId, Body body) {
    Place place = place(body);
    Instant until = body.time("until").orElse(null);
    body.require("until");
    body.check();
    Sql.Bound save =
        SAVE_TIMER
            .with("execution", executionId)
            .with("executor", executorId)
            .with("seq", place.seq())
            .with("path", place.path())
            .with("name", place.name())
            .with("until", until);
    store(save, executionId, place.seq(), place.path(), 0);
    return Map.of();
  }

  private void requireRoom(int number) {
    if (number > limits.steps()) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "A job can have at most %,d steps (setting roost.limits.steps)."
              .formatted(limits.steps()));
    }
  }

  /** What a statement says that saves an entry. */
  record Saved(boolean saved, boolean granted) {
    static Saved read(ResultSet row) throws SQLException {
      return new Saved(row.getBoolean("saved"), row.getBoolean("granted"));
    }
  }

  /** Runs a statement that saves one entry. */
  void store(Sql.Bound save, String executionId, int number, String path, long bytes) {
    Saved outcome = database.once(c -> save.first(c, Saved::read)).orElseThrow();
    check(outcome, executionId, number, path, bytes);
  }

  void check(Saved outcome, String executionId, int number, String path, long bytes) {
    if (!outcome.granted()) {
      throw fenced();
    }
    if (!outcome.saved()) {
      requireRepeated(executionId, number, path, bytes);
    }
  }

  /** A step that is sent again, since the first response was lost, is saved already. */
  private void requireRepeated(String executionId, int number, String path, long bytes) {
    record Refusal(boolean repeated, boolean taken, long before) {}
    Sql.Bound refused =
        REFUSED.with("execution", executionId).with("seq", number).with("path", path);
    Refusal refusal =
        database
            .once(
                c ->
                    refused.first(
                        c,
                        r ->
                            new Refusal(
                                r.getBoolean("repeated"),
                                r.getBoolean("taken"),
                                r.getLong("bytes"))))
            .orElseThrow(JobSteps::fenced);
    if (refusal.repeated()) {
      return;
    }
    if (!refusal.taken() && refusal.before() + bytes > limits.stepBytes()) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          ("The results of a job's steps can have at most %,d bytes together (setting roost.limits.step-bytes); "
                  + "%,d are stored, and this step has %,d. Store large results elsewhere and return a reference.")
              .formatted(limits.stepBytes(), refusal.before(), bytes));
    }
    throw Problem.of(
        ErrorCode.CONFLICT,
        "The step's number, %d, does not follow the last one.".formatted(number));
  }

  /** A step for the executor that replays it. */
  private record Stored(
      int seq,
      String path,
      String name,
      String executionId,
      String result,
      Failure error,
      boolean open,
      Instant until,
      String kind,
      Integer emitted) {
    static Stored read(ResultSet row) throws SQLException {
      return new Stored(
          row.getInt("seq"),
          row.getString("path"),
          row.getString("name"),
          row.getString("execution_id"),
          row.getString("result"),
          Failure.read(row),
          row.getBoolean("open"),
          Sql.instant(row, "until"),
          row.getString("kind"),
          row.getObject("emitted", Integer.class));
    }
  }

  /** An exception as the executor can create it again. */
  record Failure(String type, String message, String arguments) {
    /** Null if there is none. */
    static Failure read(ResultSet row) throws SQLException {
      String type = row.getString("error_type");
      return type == null
          ? null
          : new Failure(type, row.getString("error_message"), row.getString("error_arguments"));
    }
  }

  /**
   * @param more whether further steps follow
   */
  private record Steps(List<Stored> steps, boolean more) {}

  Object page(String executorId, String executionId, Body body) {
    int after = body.integer("after", 0, Integer.MAX_VALUE).orElse(0);
    body.check();
    List<Stored> found = new ArrayList<>();
    Sql.Bound page =
        PAGE.with("execution", executionId)
            .with("executor", executorId)
            .with("after", after)
            .with("most", PAGE_ROWS)
            .with("bytes", PAGE_BYTES);
    boolean granted =
        database.once(
            connection ->
                page.list(
                        connection,
                        row -> {
                          if (row.getString("path") != null) {
                            found.add(Stored.read(row));
                          }
                          return row.getBoolean("granted");
                        })
                    .get(0));
    if (!granted) {
      throw fenced();
    }
    // One more request for the last page is cheaper than counting for each.
    return new Steps(found, !found.isEmpty());
  }

  Object reopen(String executorId, String executionId, Body body) {
    body.require("steps");
    Integer[] numbers =
        body.objects("steps", step -> step.integer("seq", 1, Integer.MAX_VALUE).orElse(null))
            .orElse(List.of())
            .toArray(Integer[]::new);
    body.check();
    Sql.Bound reopen =
        REOPEN.with("execution", executionId).with("executor", executorId).with("seqs", numbers);
    if (!database.once(c -> reopen.first(c, r -> r.getBoolean("granted"))).orElseThrow()) {
      throw fenced();
    }
    return Map.of();
  }

  static Optional<String> text(Body body, String name, int most) {
    Optional<String> text = body.string(name);
    if (text.isPresent() && text.get().length() > most) {
      body.reject(name, "too_long", "%s can have at most %,d characters.".formatted(name, most));
    }
    return text;
  }

  /** Exceptions may say anything, at any length. */
  private static String ofException(Body body, String name) {
    return body.anyString(name)
        .map(text -> Text.storable(Text.beginning(text, MOST_ERROR_CHARACTERS)))
        .orElse(null);
  }

  private static String json(Body body, String name) {
    Optional<String> text = body.string(name);
    if (text.isPresent() && !JsonText.isValid(text.get())) {
      body.reject(name, "malformed_json", name + " is not valid JSON.");
    }
    return text.orElse(null);
  }

  private static long bytes(String... texts) {
    long bytes = 0;
    for (String text : texts) {
      bytes += text == null ? 0 : text.getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  static Problem fenced() {
    return Problem.of(ErrorCode.FENCED, "The execution has ended, or belongs to another executor.");
  }
}
