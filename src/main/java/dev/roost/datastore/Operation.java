package dev.roost.datastore;

import dev.roost.api.Body;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** An operation of a script on its store, in one call of the executor link. */
public sealed interface Operation {
  record Get(String key) implements Operation {}

  /**
   * @param ttlSeconds or null
   */
  record Set(String key, JsonText value, Double ttlSeconds) implements Operation {}

  record Delete(String key) implements Operation {}

  record Pop(String key) implements Operation {}

  record Increment(String key, JsonText amount) implements Operation {}

  record Count(String prefix) implements Operation {}

  record Scan(Range range, int limit, boolean withValues) implements Operation {}

  record Clear() implements Operation {}

  record Transact(Transaction transaction) implements Operation {}

  /**
   * @param holder chosen by the script's side for this acquisition
   * @param waitSeconds the longest wait for the lock
   */
  record Lock(String name, String holder, double ttlSeconds, double waitSeconds)
      implements Operation {}

  record Renew(String name, String holder, double ttlSeconds) implements Operation {}

  record Unlock(String name, String holder) implements Operation {}

  int MAX_SCAN_LIMIT = 1_000;
  int MAX_LOCK_WAIT_SECONDS = 20;

  Map<String, Function<Body, Operation>> READERS =
      Map.ofEntries(
          Map.entry("get", body -> new Get(TransactionBody.key(body))),
          Map.entry("set", Operation::set),
          Map.entry("delete", body -> new Delete(TransactionBody.key(body))),
          Map.entry("pop", body -> new Pop(TransactionBody.key(body))),
          Map.entry("increment", Operation::increment),
          Map.entry("count", body -> new Count(body.anyString("prefix").orElse(""))),
          Map.entry("scan", Operation::scan),
          Map.entry("clear", body -> new Clear()),
          Map.entry("transaction", body -> new Transact(TransactionBody.OF_EXECUTOR.read(body))),
          Map.entry("lock", Operation::lock),
          Map.entry("renew", body -> new Renew(string(body, "name"), holder(body), lease(body))),
          Map.entry("unlock", body -> new Unlock(string(body, "name"), holder(body))));

  List<String> NAMES = READERS.keySet().stream().sorted().toList();

  /** Whether the operation changes entries or locks, and so has an idempotency record. */
  default boolean isWrite() {
    return !(this instanceof Get
        || this instanceof Count
        || this instanceof Scan
        || this instanceof Lock
        || this instanceof Renew);
  }

  /**
   * Reads the operation and checks the body for errors, so other fields of the call (such as {@code
   * execution_id}) must be read before.
   *
   * @throws Problem validation_failed
   */
  static Operation of(Body body) {
    body.require("op");
    Operation operation =
        body.choice("op", NAMES).map(name -> READERS.get(name).apply(body)).orElse(null);
    body.check();
    return operation;
  }

  private static Operation set(Body body) {
    body.require("value");
    JsonText value = TransactionBody.text(body, "value").orElse(new JsonText("null"));
    return new Set(TransactionBody.key(body), value, TransactionBody.ttl(body));
  }

  private static Operation increment(Body body) {
    body.require("amount");
    JsonText amount = TransactionBody.text(body, "amount").orElse(new JsonText("0"));
    TransactionBody.requireNumber(body, "amount", amount);
    return new Increment(TransactionBody.key(body), amount);
  }

  private static Operation scan(Body body) {
    Range range = Range.of(body);
    int limit = body.integer("limit", 1, MAX_SCAN_LIMIT).orElse(MAX_SCAN_LIMIT);
    return new Scan(range, limit, body.bool("values").orElse(true));
  }

  private static Operation lock(Body body) {
    double wait = body.number("wait", 0, MAX_LOCK_WAIT_SECONDS).orElse(0.0);
    return new Lock(string(body, "name"), holder(body), lease(body), wait);
  }

  private static double lease(Body body) {
    body.require("ttl");
    return body.number("ttl", Locks.MIN_TTL_SECONDS, Locks.MAX_TTL_SECONDS)
        .orElse(Locks.MAX_TTL_SECONDS);
  }

  private static String holder(Body body) {
    return string(body, "holder");
  }

  private static String string(Body body, String name) {
    body.require(name);
    return body.anyString(name).orElse("");
  }
}
