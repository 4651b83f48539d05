package dev.roost.datastore;

import dev.roost.api.Problem;
import dev.roost.db.Sql;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The user of a store, and the condition for access. The condition is part of each statement that
 * reads or writes, so access can't end between the check and the operation.
 *
 * @param parameters of the rule's queries; of an execution with {@code execution}, its identifier
 * @param idempotency null: a repeated write is executed again
 * @param refusal the problem when the rule's query has no row
 */
public record Access(
    String storeId,
    Rule rule,
    Map<String, Object> parameters,
    Idempotency idempotency,
    Supplier<Problem> refusal) {

  /**
   * Queries that return a row while access is granted; {@code :store} is the store. Each kind of
   * user has one rule, which holds the statements for it.
   */
  public static final class Rule {
    final Sql mayRead;
    final Sql mayWrite;
    final ReadStatements reads;
    final WriteStatements writes;
    final LockStatements locks;

    /**
     * @param reads the query for reads
     * @param writes the query for writes, which also locks the condition until the write is
     *     committed
     */
    public Rule(String reads, String writes) {
      this.mayRead = Sql.of(reads);
      this.mayWrite = Sql.of(writes);
      this.reads = new ReadStatements(reads);
      this.writes = new WriteStatements(writes);
      this.locks = new LockStatements(reads);
    }
  }

  /**
   * Makes a repeated write happen once.
   *
   * @param scope the execution or the store
   * @param name of a connection that sends one write after the other, or a client's idempotency key
   * @param seq of the write; later writes of the same name have greater numbers
   * @param requestSha256 of a client's request, to detect a reused key; otherwise null
   */
  public record Idempotency(String scope, String name, long seq, byte[] requestSha256) {}

  private static final Rule CLIENT =
      new Rule(
          "select 1 from datastore where id = :store",
          "select 1 from datastore where id = :store for key share");

  /** A client of the API, who has access to every store. */
  public static Access ofClient(String storeId) {
    return ofClient(storeId, null);
  }

  static Access ofClient(String storeId, Idempotency idempotency) {
    return new Access(
        storeId, CLIENT, Map.of(), idempotency, () -> Problem.notFound("DataStore", storeId));
  }

  /** The statement with the parameters of a read. */
  Sql.Bound bind(Sql statement) {
    Sql.Bound bound = statement.with("store", storeId);
    parameters.forEach(bound::with);
    return bound;
  }

  /** The statement with the parameters that all of {@link WriteStatements} have. */
  Sql.Bound write(Sql statement) {
    boolean recorded = idempotency != null;
    return bind(statement)
        .with("execution", executionId())
        .with("scope", recorded ? idempotency.scope() : null)
        .with("name", recorded ? idempotency.name() : null)
        .with("seq", recorded ? idempotency.seq() : null)
        .with(
            "recordLock",
            recorded ? KeyLock.ofRecord(idempotency.scope(), idempotency.name()) : null);
  }

  /** Null for clients, who hold no locks. */
  String executionId() {
    return (String) parameters.get("execution");
  }
}
