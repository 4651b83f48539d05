package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Plans;
import dev.roost.TestDatabase;
import dev.roost.api.Ids;
import dev.roost.db.Sql;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** How PostgreSQL goes about a store with many entries: by index, whatever is asked. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class PlanIT {
  private static final int ENTRIES = 50_000;

  /** So few that reading all of them seems to be cheap. */
  private static final int FEW_ENTRIES = 1_000;

  @Inject DataSource dataSource;

  @Test
  void noStatementReadsAllEntries() throws SQLException {
    String store = Ids.next("store");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      fill(statement, store, ENTRIES);
      statement.execute("set plan_cache_mode = force_generic_plan");
      statement.execute("analyze datastore_entry, datastore, datastore_change");
      for (Map.Entry<String, String> each : statements().entrySet()) {
        String plan = Plans.of(statement, each.getValue());
        System.out.println(each.getKey() + "\n" + plan);
        assertFalse(plan.contains("Seq Scan on datastore_entry"), each.getKey() + "\n" + plan);
      }
      statement.execute("reset plan_cache_mode");
      statement.execute("delete from datastore where id = '" + store + "'");
    }
  }

  @Test
  void theCheckOfATransactionLooksUpEachKey() throws SQLException {
    String store = Ids.next("store");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      fill(statement, store, FEW_ENTRIES);
      statement.execute("set plan_cache_mode = force_generic_plan");
      statement.execute("analyze datastore_entry");
      String plan = Plans.of(statement, Transactions.CHANGED.text());
      assertTrue(plan.contains("AND (key = r.key)"), plan);
      statement.execute("reset plan_cache_mode");
      statement.execute("delete from datastore where id = '" + store + "'");
    }
  }

  private static void fill(Statement statement, String store, int entries) throws SQLException {
    statement.execute(
        "insert into datastore (id, name, created_at, updated_at) values ('%1$s', '%1$s', now(), now())"
            .formatted(store));
    statement.execute(
        """
        insert into datastore_entry (store_id, key, value, version, updated_at, expires_at)
        select '%s', convert_to('k/' || i, 'UTF8'), repeat('1', 50), i, now(),
          case when i %% 100 = 0 then now() + interval '1 hour' end
        from generate_series(1, %d) i"""
            .formatted(store, entries));
  }

  private static Map<String, String> statements() {
    Access.Rule client = Access.ofClient("store").rule();
    Map<String, Sql> named = new LinkedHashMap<>();
    named.put("get", client.reads.get);
    named.put("count", client.reads.count);
    named.put("count of a prefix", client.reads.countBetween);
    named.put("set", client.writes.set);
    named.put("set, if it has that version", client.writes.replace);
    named.put("delete", client.writes.delete);
    named.put("increment", client.writes.increment);
    named.put("size", StoreCounts.SIZE_BYTES);
    named.put("statistics of a page of stores", StoreCounts.STATISTICS);
    named.put("sweep", Entries.SWEEP);
    named.put("check of a transaction", Transactions.CHANGED);
    named.put("scan", Scan.VALUES);
    named.put("scan of keys", Scan.KEYS);
    Map<String, String> texts = new LinkedHashMap<>();
    named.forEach((name, sql) -> texts.put(name, sql.text()));
    return texts;
  }
}
