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

/**
 * The answers to writes, so that a repeated write is not executed again. A write holds the lock of
 * its record until the commit. So a repetition waits for the first request, and then finds its
 * record.
 */
final class IdempotencyRecords {
  /** The minimum lifetime of a client's idempotency key, in hours. */
  static final int CLIENT_HOURS = 24;

  private static final Sql NOTE =
      Sql.of(
          """
          insert into datastore_receipt as r (scope, name, seq, request_sha256, answer)
          values (:scope, :name, :seq, :request, :answer)
          on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
          where r.seq < excluded.seq
          """);

  private static final Sql SWEEP =
      Sql.of(
          """
          delete from datastore_receipt where (scope, name) in (
            select scope, name from datastore_receipt
            where request_sha256 is not null and created_at < statement_timestamp() - make_interval(hours => :hours)
            limit :limit)
          """);

  private IdempotencyRecords() {}

  /**
   * The recorded answer in the row of a write's statement; empty: the write was not executed
   * before.
   *
   * @throws Problem fenced: a later write of the same connection was executed; or
   *     idempotency_key_reused
   */
  static Optional<JsonText> answer(ResultSet row, Access access) throws SQLException {
    String answer = row.getString("answer");
    if (answer == null) {
      return Optional.empty();
    }
    Access.Idempotency request = access.idempotency();
    if (!Arrays.equals(row.getBytes("request_sha256"), request.requestSha256())) {
      throw Problem.of(
          ErrorCode.IDEMPOTENCY_KEY_REUSED,
          "This Idempotency-Key was used with a different transaction. Use a new key for each "
              + "transaction.");
    }
    if (row.getLong("seq") > request.seq()) {
      throw Problem.of(ErrorCode.FENCED, "A later write of this connection has been done.");
    }
    return Optional.of(new JsonText(answer));
  }

  /** Stores the answer, in the transaction of the write. */
  static void note(Connection connection, Access access, String answer) throws SQLException {
    Access.Idempotency request = access.idempotency();
    if (request == null) {
      return;
    }
    int stored =
        NOTE.with("scope", request.scope())
            .with("name", request.name())
            .with("seq", request.seq())
            .with("request", request.requestSha256())
            .with("answer", answer)
            .update(connection);
    if (stored == 0) {
      throw new IllegalStateException("a write was recorded without the lock of its record");
    }
  }

  /** Removes clients' expired records; returns how many. */
  static int sweep(Connection connection, int limit) throws SQLException {
    return SWEEP.with("hours", CLIENT_HOURS).with("limit", limit).update(connection);
  }
}
