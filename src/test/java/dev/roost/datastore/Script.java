package dev.roost.datastore;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * An execution as the link knows it, for which every store is its own. Bodies and answers are
 * written with ' for ", to be legible.
 */
final class Script {
  private static final String STORE =
      "select 1 from datastore where id = :store and :execution <> :executor";

  private static final Access.Rule RULE = new Access.Rule(STORE, STORE + " for key share");

  private final Operations operations;
  private final ObjectMapper mapper;
  final String executionId = Ids.next("exec");
  private long seq;

  Script(Operations operations, ObjectMapper mapper) {
    this.operations = operations;
    this.mapper = mapper;
  }

  /** Sends an operation for the first time. */
  String run(String storeId, String body) {
    seq++;
    return again(storeId, body);
  }

  /** Sends it once more. */
  String again(String storeId, String body) {
    return send(storeId, body, seq);
  }

  String send(String storeId, String body, long seq) {
    try {
      Operation operation = parse(body);
      Access access = access(storeId, seq);
      Object answer =
          operation instanceof Operation.Lock lock
              ? operations.lock(access, lock).await().atMost(Duration.ofSeconds(30))
              : operations.run(access, operation);
      return mapper.writeValueAsString(answer).replace('"', '\'');
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  Access access(String storeId, long seq) {
    return new Access(
        storeId,
        RULE,
        Map.of("execution", executionId, "executor", "executor_1"),
        new Access.Idempotency(executionId, "channel", seq, null),
        () -> Problem.of(ErrorCode.FENCED, "The store is gone."));
  }

  static Operation parse(String body) {
    return Operation.of(Body.parse(body.replace('\'', '"').getBytes(StandardCharsets.UTF_8)));
  }
}
