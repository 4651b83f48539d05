package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.file.Files;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * Keeps large payloads and return values as files, so that the database and its backups stay small.
 * Clients and scripts don't see the difference. What can't be stored as a file stays in the
 * database.
 */
@ApplicationScoped
class LargeValues {
  private static final Logger LOG = Logger.getLogger(LargeValues.class);

  /** Of the JSON text of a value that stays in the database. */
  static final int MOST_BYTES = 256 << 10;

  /** Of the beginning that stays in the database anyway: what lists show and the search finds. */
  static final int BEGINNING_CHARACTERS = 65_536;

  /** UTF-8 has at most this many bytes for each character of Java. */
  private static final int BYTES_OF_CHARACTER = 3;

  /**
   * How long nothing is stored after a failure: each one may take a minute, in which a client or an
   * executor waits.
   */
  private static final Duration REST = Duration.ofSeconds(10);

  /**
   * SQL for the size of a value in bytes, from the column of its text; its file's is named alike.
   */
  static String size(String column) {
    return "coalesce((select f.size_bytes from file f where f.id = %1$s_file_id), octet_length(%1$s), 0)"
        .formatted(column);
  }

  private static final Sql IS_CALLED =
      Sql.of(
          """
          select 1 from execution e join executor_job j on j.id = e.executor_job_id
          where e.id = :id and j.parent_id is not null""");

  /**
   * Whether a replica of an earlier release may still run: it would take the beginning of a value
   * for all of it.
   */
  static final Sql IS_UPGRADING =
      Sql.of(
          """
          select 1 from flyway_schema_history h
          where h.version = '39' and h.installed_on > localtimestamp - interval '15 minutes'
            and exists (select 1 from flyway_schema_history e where e.installed_on < h.installed_on - interval '1 minute')""");

  private final Files files;
  private final Database database;
  private volatile long restsUntil = System.nanoTime();
  private volatile boolean isUpgraded;

  LargeValues(Files files, Database database) {
    this.files = files;
    this.database = database;
  }

  /**
   * A JSON value as the database keeps it.
   *
   * @param text null: there is no value
   * @param fileId of the file that has all of it; null: text is all of it, otherwise its beginning
   */
  record Kept(String text, String fileId) {}

  /**
   * @param name what the file is called, with {@code .json} after it
   * @param text JSON, or null
   */
  Kept keep(String name, String text) {
    boolean rests = restsUntil - System.nanoTime() > 0;
    if (!isLarge(text) || !files.canStore() || rests || !isUpgraded()) {
      return new Kept(text, null);
    }
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      String id = files.store(name + ".json", "application/json", bytes);
      return new Kept(FrameLimits.bounded(text, BEGINNING_CHARACTERS), id);
    } catch (Problem e) {
      restsUntil = System.nanoTime() + REST.toNanos();
      LOG.warnf(
          "large payloads and return values stay in the database for %d s: %s",
          REST.toSeconds(), e.getMessage());
      return new Kept(text, null);
    }
  }

  private boolean isUpgraded() {
    if (!isUpgraded) {
      isUpgraded =
          database.once(connection -> IS_UPGRADING.with().first(connection, row -> true)).isEmpty();
    }
    return isUpgraded;
  }

  /** Whether a value is to be kept as a file. */
  static boolean isLarge(String text) {
    return text != null
        && text.length() > MOST_BYTES / BYTES_OF_CHARACTER
        && Text.sizeBytes(text) > MOST_BYTES;
  }

  /**
   * The outcome with its return value as it is kept. That of a job that another one has called
   * stays in the database, where it becomes the result of the caller's step.
   */
  Outcome keep(String executionId, Outcome outcome) {
    if (!isLarge(outcome.returnValue()) || isCalled(executionId)) {
      return outcome;
    }
    return outcome.withReturnValue(keep("return_value", outcome.returnValue()));
  }

  private boolean isCalled(String executionId) {
    Sql.Bound called = IS_CALLED.with("id", executionId);
    return database.once(connection -> called.first(connection, row -> true)).isPresent();
  }

  /**
   * Removes the file of a value that no job has come to refer to.
   *
   * @param fileId null: it has none
   */
  void discard(String fileId) {
    if (fileId != null) {
      files.discard(fileId);
    }
  }

  /**
   * The text of a value.
   *
   * @return empty if its file is lost
   * @throws Problem unavailable: the storage of files can't be reached
   */
  Optional<String> read(String fileId) {
    return files.content(fileId).map(bytes -> new String(bytes, StandardCharsets.UTF_8));
  }

  /**
   * The view with its whole return value.
   *
   * @throws Problem unavailable
   */
  Execution.View whole(Execution.View view) {
    return view.returnValueFileId() == null
        ? view
        : view.withReturnValue(json(view.returnValueFileId()));
  }

  /**
   * The view with its whole payload and return value.
   *
   * @throws Problem unavailable
   */
  ExecutorJob.View whole(ExecutorJob.View view) {
    JsonText payload = view.payloadFileId() == null ? view.payload() : json(view.payloadFileId());
    Execution.View execution = view.execution() == null ? null : whole(view.execution());
    boolean isWhole = payload == view.payload() && execution == view.execution();
    return isWhole ? view : view.with(payload, execution);
  }

  private JsonText json(String fileId) {
    return JsonText.ofNullable(read(fileId).orElse(null));
  }
}
