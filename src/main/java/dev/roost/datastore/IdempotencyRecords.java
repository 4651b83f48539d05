package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Optional;
import org.postgresql.util.PSQLException;

/** The answers to writes, so that a repeated write is not executed again. */
final class IdempotencyRecords {
  /** The minimum lifetime of a client's idempotency key, in hours. */
  static final int CLIENT_HOURS = 24;

  private static final String TABLE = "datastore_receipt";
  private static final String NOT_NULL_VIOLATION = "23502";

  private static final Sql FIND =
      Sql.of(
          "select seq, request_sha256, answer from datastore_receipt where scope = :scope and name = :name");

  /**
   * The end of an insert as {@code r}. An existing record, of this write or of a later one, makes
   * the statement fail and roll back, since the column can't be null.
   */
  static final String ONCE =
      """

      on conflict (scope, name) do update
      set answer = excluded.answer, seq = case when excluded.seq > r.seq then excluded.seq end""";

  private static final Sql NOTE =
      Sql.of(
          """
          insert into datastore_receipt as r (scope, name, seq, request_sha256, answer)
          values (:scope, :name, :seq, :request, :answer)"""
              + ONCE);

  private static final Sql SWEEP =
      Sql.of(
          """
          delete from datastore_receipt where (scope, name) in (
            select scope, name from datastore_receipt
            where request_sha256 is not null and created_at < statement_timestamp() - make_interval(hours => :hours)
            limit :limit)""");

  private IdempotencyRecords() {}

  /** The write was executed before. */
  static final class DoneBefore extends RuntimeException {
    private final transient JsonText answer;

    private DoneBefore(JsonText answer) {
      super("done before", null, false, false);
      this.answer = answer;
    }

    /** The answer to the first request. */
    JsonText answer() {
      return answer;
    }
  }

  /**
   * Checks whether this write was executed before. Only committed writes are visible, so the caller
   * must hold the locks of the keys, or try the write first.
   *
   * @throws DoneBefore
   * @throws Problem fenced: a later write of the same connection was executed; or
   *     idempotency_key_reused
   */
  static void check(Connection connection, Access access) throws SQLException {
    Access.Receipt receipt = access.receipt();
    if (receipt == null) {
      return;
    }
    Optional<Found> found =
        FIND.with("scope", receipt.scope())
            .with("name", receipt.name())
            .first(connection, Found::of);
    if (found.isEmpty() || found.get().seq() < receipt.seq()) {
      return;
    }
    if (!Arrays.equals(found.get().requestSha256(), receipt.requestSha256())) {
      throw Problem.of(
          ErrorCode.IDEMPOTENCY_KEY_REUSED,
          "This Idempotency-Key came with another transaction before. Use a new key for a new one.");
    }
    if (found.get().seq() > receipt.seq()) {
      throw Problem.of(ErrorCode.FENCED, "A later write of this connection has been done.");
    }
    throw new DoneBefore(new JsonText(found.get().answer()));
  }

  private record Found(long seq, byte[] requestSha256, String answer) {
    static Found of(ResultSet row) throws SQLException {
      return new Found(row.getLong("seq"), row.getBytes("request_sha256"), row.getString("answer"));
    }
  }

  /** Stores the answer, in the transaction of the write. */
  static void note(Connection connection, Access access, String answer) throws SQLException {
    Access.Receipt receipt = access.receipt();
    if (receipt != null) {
      NOTE.with("scope", receipt.scope())
          .with("name", receipt.name())
          .with("seq", receipt.seq())
          .with("request", receipt.requestSha256())
          .with("answer", answer)
          .update(connection);
    }
  }

  /** Whether a write failed because of an existing record: the same write ran concurrently. */
  static boolean isThere(SQLException e) {
    return NOT_NULL_VIOLATION.equals(e.getSQLState())
        && e instanceof PSQLException failure
        && failure.getServerErrorMessage() != null
        && TABLE.equals(failure.getServerErrorMessage().getTable());
  }

  /** Removes clients' expired records; returns how many. */
  static int sweep(Connection connection, int limit) throws SQLException {
    return SWEEP.with("hours", CLIENT_HOURS).with("limit", limit).update(connection);
  }
}
