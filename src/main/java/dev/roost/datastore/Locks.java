package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.cluster.Signals;
import dev.roost.cluster.Waiting;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Duration;
import java.util.Optional;

/**
 * Locks that executions hold by a lease. After a lease has expired, the holder keeps the lock until
 * someone else takes it. The holder's execution can then write to no store until it acknowledges
 * the loss by releasing the lock. So an execution that was paused beyond its lease never writes
 * after the next holder has begun: see {@link WriteStatements} for the check, which is part of each
 * write.
 *
 * <p>The caller chooses the holder's name, so a repeated request is harmless.
 */
@ApplicationScoped
public class Locks {
  static final double MIN_TTL_SECONDS = 0.5;
  static final double MAX_TTL_SECONDS = 86_400;

  /** A lost lock of the same holder belongs to a request whose answer never arrived. */
  private static final Sql EXPIRE =
      Sql.of(
          """
          with own as (
            delete from datastore_lock where store_id = :store and name = :name and holder = :holder and lost)
          update datastore_lock set lost = true
          where store_id = :store and name = :name and not lost and holder <> :holder
            and expires_at <= statement_timestamp()
          """);

  private static final Sql TAKE =
      Sql.of(
          """
          insert into datastore_lock as l (store_id, name, holder, execution_id, expires_at)
          values (:store, :name, :holder, :execution, statement_timestamp() + make_interval(secs => :ttl))
          on conflict (store_id, name) where not lost do update set expires_at = excluded.expires_at
          where l.holder = excluded.holder and l.execution_id = excluded.execution_id
          returning l.holder
          """);

  /**
   * Releases all locks of executions and deletes their idempotency records: two parts of a {@code
   * with} clause, of which an earlier one, {@code ended}, returns the executions' {@code id}.
   */
  public static final String END =
      """
      records as (delete from datastore_receipt where scope in (select id from ended)),
      released as (delete from datastore_lock where execution_id in (select id from ended))
      """;

  private static final Sql END_ONE =
      Sql.of(
          "with ended as (select cast(:execution as text) as id), " + END + "select id from ended");

  private final Entries entries;
  private final Guarded guarded;
  private final Database database;
  private final Signals signals;
  private final Waiting waiting;
  private final EntityManager entityManager;

  Locks(
      Entries entries,
      Guarded guarded,
      Database database,
      Signals signals,
      Waiting waiting,
      EntityManager entityManager) {
    this.entries = entries;
    this.guarded = guarded;
    this.database = database;
    this.signals = signals;
    this.waiting = waiting;
    this.entityManager = entityManager;
  }

  /**
   * Tries until the holder has the lock or the time is over.
   *
   * @param ttlSeconds of the lease
   * @return whether the holder has the lock
   * @throws Problem validation_failed, or the refusal of {@code access}
   */
  public Uni<Boolean> acquire(
      Access access, String name, String holder, double ttlSeconds, Duration wait) {
    byte[] nameUtf8 = entries.key("name", name);
    return waiting.until(
        topic(access, nameUtf8),
        wait,
        () -> take(access, nameUtf8, holder, ttlSeconds) ? Optional.of(true) : Optional.empty(),
        () -> false);
  }

  private boolean take(Access access, byte[] name, String holder, double ttlSeconds) {
    return database.inTransaction(
        connection -> {
          if (access.bind(access.rule().mayWrite).list(connection, row -> row).isEmpty()) {
            throw access.refusal().get();
          }
          plain(access, EXPIRE, name, holder).update(connection);
          return !plain(access, TAKE, name, holder)
              .with("execution", access.executionId())
              .with("ttl", ttlSeconds)
              .list(connection, row -> row)
              .isEmpty();
        });
  }

  /**
   * Restarts the lease, also an expired one when nobody has taken the lock.
   *
   * @return false: someone else has taken the lock
   */
  public boolean renew(Access access, String name, String holder, double ttlSeconds) {
    Sql.Bound renew =
        access
            .bind(access.rule().locks.renew)
            .with("lockName", entries.key("name", name))
            .with("holder", holder)
            .with("execution", access.executionId())
            .with("ttl", ttlSeconds);
    return guarded.read(access, renew, row -> true).orElse(false);
  }

  /**
   * Releases the lock. After the release of a lost lock the execution may write again.
   *
   * @return whether the holder had the lock until now
   */
  public WriteOutcome<Boolean> release(Access access, String name, String holder) {
    byte[] nameUtf8 = entries.key("name", name);
    Sql.Bound unlock =
        access.write(access.rule().locks.unlock).with("lockName", nameUtf8).with("holder", holder);
    return guarded
        .write(access, unlock, row -> row.getBoolean("held"))
        .map(
            held -> {
              boolean released = held.orElse(false);
              if (released) {
                signals.fire(topic(access, nameUtf8));
              }
              return released;
            });
  }

  /**
   * Releases all locks of an execution and deletes its idempotency records, in the caller's
   * transaction.
   */
  public void end(String executionId) {
    END_ONE.with("execution", executionId).strings(entityManager);
  }

  /** The refusal of a write by an execution that has lost a lock. */
  static Problem lost(byte[] name) {
    return Problem.of(
        ErrorCode.LOCK_LOST,
        ("The lock %s was lost: its lease expired, and another holder has acquired it. Nothing was "
                + "written.")
            .formatted(Text.quote(EntryKey.text(name))));
  }

  private static Sql.Bound plain(Access access, Sql statement, byte[] name, String holder) {
    return statement.with("store", access.storeId()).with("name", name).with("holder", holder);
  }

  private static String topic(Access access, byte[] name) {
    return "lock:" + Long.toHexString(KeyLock.ofKey(access.storeId(), name));
  }
}
