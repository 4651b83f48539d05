package dev.roost.datastore;

import dev.roost.api.Problem;
import dev.roost.db.Sql;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Who uses a store, and the condition under which he may. The condition is part of the very
 * statement that reads or writes, so nothing slips in after it has ceased to hold.
 *
 * @param parameters of the rule's queries
 * @param receipt null: what is sent again is done again
 * @param refusal what to say when the rule's query has no row
 */
public record Access(
    String storeId,
    Rule rule,
    Map<String, Object> parameters,
    Receipt receipt,
    Supplier<Problem> refusal) {

  /**
   * Queries that have a row as long as access is granted; {@code :store} is the store. Those of one
   * kind of user are one object, because the statements that are made of them are kept.
   *
   * @param reads sees
   * @param writes also keeps what grants access as it is until the write is committed
   * @param ofExecutions whether executions ask by it: {@code :execution} can hold locks, and all
   *     its writes carry a receipt
   */
  public record Rule(String reads, String writes, boolean ofExecutions) {}

  /**
   * Makes a write that is sent again happen once.
   *
   * @param scope the execution or the store
   * @param name of the connection over which one write after the other comes, or a client's
   *     idempotency key
   * @param seq of the write; a later one of the same name has a greater one
   * @param requestSha256 of a client's request, so that a key that is used again is found out;
   *     otherwise null
   */
  public record Receipt(String scope, String name, long seq, byte[] requestSha256) {}

  private static final Rule CLIENT =
      new Rule(
          "select 1 from datastore where id = :store",
          "select 1 from datastore where id = :store for key share",
          false);

  /** A client of the API, who may use every store that there is. */
  public static Access ofClient(String storeId) {
    return ofClient(storeId, null);
  }

  static Access ofClient(String storeId, Receipt receipt) {
    return new Access(
        storeId, CLIENT, Map.of(), receipt, () -> Problem.notFound("DataStore", storeId));
  }

  /** The statement with the parameters of a read. */
  Sql.Bound bind(Sql statement) {
    Sql.Bound bound = statement.with("store", storeId);
    parameters.forEach(bound::with);
    return bound;
  }
}
