package dev.roost.datastore;

import dev.roost.cluster.Leadership;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Adds up the size differences that writes to stores have recorded. A store's size is the sum plus
 * the remaining differences, read in one statement, so it is always exact.
 */
@ApplicationScoped
class StoreCounts {
  private static final int BATCH = 10_000;
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final Sql ADD_UP =
      Sql.of(
          """
          with gone as (
            delete from datastore_change where ctid = any(array(
              select ctid from datastore_change limit :limit for update skip locked))
            returning store_id, entries, size_bytes, changed_at),
          sums as (
            select store_id, sum(entries) as entries, sum(size_bytes) as size_bytes, max(changed_at) as changed_at,
              count(*) as changes
            from gone group by store_id),
          added as (
            update datastore d set entries = d.entries + s.entries, size_bytes = d.size_bytes + s.size_bytes,
              updated_at = greatest(d.updated_at, s.changed_at)
            from sums s where d.id = s.store_id)
          select coalesce(sum(changes), 0) as changes from sums
          """);

  /** Without expired entries. */
  static final Sql SIZE_BYTES =
      Sql.of(
          """
          select d.size_bytes
            + coalesce((select sum(c.size_bytes) from datastore_change c where c.store_id = d.id), 0)
            - (select coalesce(sum(octet_length(e.key) + octet_length(e.value)), 0) from datastore_entry e
               where e.store_id = d.id and e.expires_at <= statement_timestamp()) as size_bytes
          from datastore d where d.id = :store
          """);

  /** Without expired entries. */
  static final Sql STATISTICS =
      Sql.of(
          """
          select d.id,
            d.entries + coalesce((select sum(c.entries) from datastore_change c where c.store_id = d.id), 0)
              - (select count(*) from datastore_entry e
                 where e.store_id = d.id and e.expires_at <= statement_timestamp()) as entries,
            d.size_bytes
              + coalesce((select sum(c.size_bytes) from datastore_change c where c.store_id = d.id), 0)
              - (select coalesce(sum(octet_length(e.key) + octet_length(e.value)), 0) from datastore_entry e
                 where e.store_id = d.id and e.expires_at <= statement_timestamp()) as size_bytes,
            greatest(d.updated_at, (select max(c.changed_at) from datastore_change c where c.store_id = d.id))
              as updated_at
          from datastore d where d.id = any(:stores)
          """);

  private final Database database;
  private final Leadership leadership;
  private final Loop loop;
  private volatile boolean stopping;

  StoreCounts(Database database, Replicas replicas, Loops loops) {
    this.database = database;
    this.leadership = replicas;
    this.loop = loops.make("store-counts", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    loop.stop();
  }

  private Duration pass() {
    while (addUp() == BATCH && leadership.isHeld() && !stopping) {
      // One transaction per batch, so that no lock is held for long.
    }
    return PAUSE;
  }

  /** Returns the number of differences. */
  int addUp() {
    return database.once(
        connection ->
            ADD_UP
                .with("limit", BATCH)
                .first(connection, row -> row.getInt("changes"))
                .orElseThrow());
  }

  /**
   * The contents of a store.
   *
   * @param sizeBytes of keys and values
   * @param updatedAt the last change of its name or its entries
   */
  record Statistics(long entries, long sizeBytes, Instant updatedAt) {}

  /** For each existing store; reads counters, not entries. */
  Map<String, Statistics> statistics(Collection<String> storeIds) {
    Map<String, Statistics> statistics = new HashMap<>();
    Sql.Bound select = STATISTICS.with("stores", storeIds.toArray(String[]::new));
    database.once(
        connection ->
            select.list(
                connection,
                row ->
                    statistics.put(
                        row.getString("id"),
                        new Statistics(
                            row.getLong("entries"),
                            row.getLong("size_bytes"),
                            Sql.instant(row, "updated_at")))));
    return statistics;
  }

  /** The size of a store's keys and values, in bytes. */
  long sizeBytes(String storeId) {
    return database
        .once(
            connection ->
                SIZE_BYTES
                    .with("store", storeId)
                    .first(connection, row -> row.getLong("size_bytes")))
        .orElse(0L);
  }
}
