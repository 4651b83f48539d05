package dev.roost.datastore;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.util.List;

/** What a script may do with its store in one call of the executor link. */
public sealed interface Operation {
  record Get(String key) implements Operation {}

  /**
   * @param ttlSeconds or null
   */
  record Set(String key, JsonText value, Double ttlSeconds) implements Operation {}

  record Delete(String key) implements Operation {}

  record Count() implements Operation {}

  record Scan(dev.roost.datastore.Scan.Range range) implements Operation {}

  record Clear() implements Operation {}

  List<String> NAMES = List.of("get", "set", "delete", "count", "scan", "clear");
  int MAX_SCAN_LIMIT = 1_000;

  /** Whether it changes something: then the execution must still be running. */
  default boolean isWrite() {
    return this instanceof Set || this instanceof Delete || this instanceof Clear;
  }

  /**
   * Reads the operation and ends the reading of the body, so whatever else belongs to the call
   * (such as {@code execution_id}) has to be read before.
   *
   * @throws Problem validation_failed, or malformed_json: the value is no JSON
   */
  static Operation of(Body body) {
    body.require("op");
    return switch (body.choice("op", NAMES).orElse("")) {
      case "get" -> checked(body, new Get(key(body)));
      case "set" -> set(body);
      case "delete" -> checked(body, new Delete(key(body)));
      case "count" -> checked(body, new Count());
      case "scan" -> scan(body);
      case "clear" -> checked(body, new Clear());
      default -> {
        body.check();
        throw new IllegalStateException("a body without an operation passed its check");
      }
    };
  }

  private static Operation set(Body body) {
    String key = key(body);
    body.require("value");
    String value = body.string("value").orElse("");
    Double ttl =
        body.isNull("ttl") ? null : body.number("ttl", 0, Entries.MAX_TTL_SECONDS).orElse(null);
    body.check();
    if (!JsonText.isValid(value)) {
      throw Problem.of(ErrorCode.MALFORMED_JSON, "The value is not valid JSON.");
    }
    return new Set(key, new JsonText(value), ttl);
  }

  private static Operation scan(Body body) {
    String prefix = body.anyString("prefix").orElse("");
    String after = body.anyString("after").orElse(null);
    int limit = body.integer("limit", 1, MAX_SCAN_LIMIT).orElse(MAX_SCAN_LIMIT);
    boolean values = body.bool("values").orElse(true);
    return checked(
        body, new Scan(new dev.roost.datastore.Scan.Range(prefix, null, after, limit, values)));
  }

  private static String key(Body body) {
    body.require("key");
    return body.anyString("key").orElse("");
  }

  private static Operation checked(Body body, Operation operation) {
    body.check();
    return operation;
  }
}
