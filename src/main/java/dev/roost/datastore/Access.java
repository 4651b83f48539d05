package dev.roost.datastore;

import dev.roost.api.Problem;
import dev.roost.db.Sql;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The user of a store, and the condition for access. The condition is part of each statement that
 * reads or writes, so access can't end between the check and the operation.
 *
 * @param parameters of the rule's queries
 * @param receipt null: a repeated write is executed again
 * @param refusal the problem when the rule's query has no row
 */
public record Access(
    String storeId,
    Rule rule,
    Map<String, Object> parameters,
    Receipt receipt,
    Supplier<Problem> refusal) {

  /**
   * Queries that return a row while access is granted; {@code :store} is the store. Each kind of
   * user has one shared rule, because the statements are cached by rule.
   *
   * @param reads the query for reads
   * @param writes the query for writes, which also locks the condition until the write is committed
   * @param ofExecutions whether the users are executions: {@code :execution} can hold locks, and
   *     each write has an idempotency record
   */
  public record Rule(String reads, String writes, boolean ofExecutions) {}

  /**
   * Makes a repeated write happen once.
   *
   * @param scope the execution or the store
   * @param name of a connection that sends one write after the other, or a client's idempotency key
   * @param seq of the write; later writes of the same name have greater numbers
   * @param requestSha256 of a client's request, to detect a reused key; otherwise null
   */
  public record Receipt(String scope, String name, long seq, byte[] requestSha256) {}

  private static final Rule CLIENT =
      new Rule(
          "select 1 from datastore where id = :store",
          "select 1 from datastore where id = :store for key share",
          false);

  /** A client of the API, who has access to every store. */
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
