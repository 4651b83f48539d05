package dev.roost.datastore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Executes the operations of scripts on their stores, over the executor link. */
@ApplicationScoped
public class Operations {
  private final Entries entries;
  private final Transactions transactions;
  private final Locks locks;

  Operations(Entries entries, Transactions transactions, Locks locks) {
    this.entries = entries;
    this.transactions = transactions;
    this.locks = locks;
  }

  /**
   * @param value JSON text, or null where there is no such entry
   * @param version 0 where there is no such entry
   */
  record Got(String value, long version, Instant expiresAt) {
    static final Got NOTHING = new Got(null, 0, null);

    static Got of(ResultSet row) throws SQLException {
      return new Got(
          row.getString("value"), row.getLong("version"), Sql.instant(row, "expires_at"));
    }
  }

  record Set(long version) {}

  /**
   * @param version the removed version, or 0
   */
  record Deleted(boolean deleted, long version) {}

  record Cleared(long deleted) {}

  record Counted(long count) {}

  record Scanned(List<Element> entries, String next) {}

  public record Acquired(boolean acquired) {}

  record Held(boolean held) {}

  record Released(boolean released) {}

  /**
   * @param value JSON text; omitted in a scan of keys only
   */
  record Element(String key, @JsonInclude(Include.NON_NULL) String value, long version) {
    static Element of(Entry entry) {
      String value = entry.value() == null ? null : entry.value().text();
      return new Element(entry.key(), value, entry.version());
    }
  }

  /**
   * Waits for a lock up to the requested time.
   *
   * @return the answer, to be serialized as JSON
   * @throws Problem the refusal of {@code access}, validation_failed
   */
  public Uni<Acquired> lock(Access access, Operation.Lock lock) {
    Duration wait = Duration.ofMillis((long) (lock.waitSeconds() * 1_000));
    return locks
        .acquire(access, lock.name(), lock.holder(), lock.ttlSeconds(), wait)
        .map(Acquired::new);
  }

  /**
   * Executes any other operation, in its own transaction.
   *
   * @return the answer, to be serialized as JSON
   * @throws Problem the refusal of {@code access}, validation_failed, too_large, store_full,
   *     conflict, lock_lost
   */
  public Object run(Access access, Operation operation) {
    if (operation instanceof Operation.Get get) {
      return entries.get(access, get.key(), Got::of).orElse(Got.NOTHING);
    }
    if (operation instanceof Operation.Set set) {
      return entries
          .put(access, set.key(), set.value(), set.ttlSeconds(), Precondition.NONE)
          .answer(written -> new Set(written.version()));
    }
    if (operation instanceof Operation.Delete delete) {
      return entries
          .delete(access, delete.key(), Precondition.NONE)
          .answer(version -> new Deleted(version.isPresent(), version.orElse(0L)));
    }
    if (operation instanceof Operation.Pop pop) {
      return entries
          .pop(access, pop.key())
          .answer(entry -> entry.orElse(new Entries.Versioned(null, 0)));
    }
    if (operation instanceof Operation.Increment increment) {
      return entries.increment(access, increment.key(), increment.amount()).answer(sum -> sum);
    }
    if (operation instanceof Operation.Count count) {
      return new Counted(entries.count(access, count.prefix()));
    }
    if (operation instanceof Operation.Scan scan) {
      Scan found = entries.scan(access, scan.range(), scan.limit(), scan.withValues());
      return new Scanned(found.entries().stream().map(Element::of).toList(), found.next());
    }
    if (operation instanceof Operation.Clear) {
      return entries.clear(access).answer(Cleared::new);
    }
    if (operation instanceof Operation.Transact transact) {
      return transactions.run(access, transact.transaction());
    }
    if (operation instanceof Operation.Renew renew) {
      return new Held(locks.renew(access, renew.name(), renew.holder(), renew.ttlSeconds()));
    }
    if (operation instanceof Operation.Unlock unlock) {
      return locks.release(access, unlock.name(), unlock.holder()).answer(Released::new);
    }
    throw new IllegalArgumentException(operation.toString());
  }
}
