package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.api.Text;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What scripts say while they run: the values that they emit, and their progress; {@code
 * docs/executor-link.md} specifies the operations.
 */
@ApplicationScoped
public class StreamOperations {
  /** Executors shorten messages before they send them. */
  private static final int MOST_MESSAGE_CHARACTERS = 200;

  /** Of one request. */
  static final int MOST_VALUES = 10_000;

  private static final List<String> OPERATIONS = List.of("emit", "progress");

  private static final Sql PROGRESS =
      Sql.of(
          """
          update execution set progress = :fraction, progress_message = :message
          where id = :execution and executor_id = :executor and state = 'running' returning executor_job_id""");

  private final StreamValues values;
  private final Database database;
  private final Signals signals;
  private final Storage storage;
  private final RoostConfig.Limits limits;

  StreamOperations(
      StreamValues values,
      Database database,
      Signals signals,
      Storage storage,
      RoostConfig config) {
    this.values = values;
    this.database = database;
    this.signals = signals;
    this.storage = storage;
    this.limits = config.limits();
  }

  /** The topic of the signals of new values and progress. */
  static String topic(String jobId) {
    return jobId + "/stream";
  }

  /**
   * Runs one operation.
   *
   * @return what the response has
   * @throws Problem validation_failed; fenced: the execution has ended or is another executor's;
   *     too_large; conflict; storage_full
   */
  public Object run(String executorId, String executionId, Body body) {
    body.require("op");
    Optional<String> operation = body.choice("op", OPERATIONS);
    if (operation.isEmpty()) {
      body.check();
    }
    String job =
        operation.orElseThrow().equals("emit")
            ? emit(executorId, executionId, body)
            : progress(executorId, executionId, body);
    signals.fire(topic(job));
    return Map.of();
  }

  private String emit(String executorId, String executionId, Body body) {
    int first = body.integer("first", 1, Integer.MAX_VALUE).orElse(1);
    Optional<String> lines = body.string("values");
    body.require("first");
    body.require("values");
    body.check();
    // Outside of strings, which have none, it is white space.
    String text = lines.orElseThrow().replace('\r', ' ');
    long count = text.chars().filter(character -> character == '\n').count() + 1;
    if (count > MOST_VALUES || count > Integer.MAX_VALUE - first) {
      throw Problem.of(
          ErrorCode.TOO_LARGE, "A request can have at most %,d values.".formatted(MOST_VALUES));
    }
    List<String> texts = List.of(text.split("\n", -1));
    for (int i = 0; i < texts.size(); i++) {
      check(first + i, texts.get(i));
    }
    storage.require(Storage.Area.PAYLOADS);
    return values.append(executorId, executionId, first, texts);
  }

  private void check(int number, String text) {
    if (!JsonText.isValid(text)) {
      throw Problem.invalid(
          "/values", "malformed_json", "The value %,d is not valid JSON.".formatted(number));
    }
    int most = limits.streamValueBytes();
    if (text.length() > most / 4 && text.getBytes(StandardCharsets.UTF_8).length > most) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          ("The value %,d has more than %,d bytes of JSON (setting roost.limits.stream-value-bytes).")
              .formatted(number, most));
    }
  }

  private String progress(String executorId, String executionId, Body body) {
    Double fraction = body.number("fraction", 0, 1).orElse(null);
    String message =
        body.anyString("message")
            .map(text -> Text.storable(Text.beginning(text, MOST_MESSAGE_CHARACTERS)))
            .orElse(null);
    body.check();
    Sql.Bound progress =
        PROGRESS
            .with("fraction", fraction)
            .with("message", message)
            .with("execution", executionId)
            .with("executor", executorId);
    return database
        .once(connection -> progress.first(connection, row -> row.getString("executor_job_id")))
        .orElseThrow(JobSteps::fenced);
  }
}
