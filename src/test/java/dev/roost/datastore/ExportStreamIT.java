package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Exports and imports that are larger than what may be in memory. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class ExportStreamIT {
  private static final int ENTRIES = 1_024;
  private static final int VALUE_BYTES = 64 << 10;
  private static final long MEBIBYTE = 1 << 20;

  /** More than there are connections to the database. */
  private static final int MANY_READERS = 24;

  @Inject DataSource database;

  /** Of 64 MiB, which tests only read. */
  private static String path;

  private Api api;

  @BeforeEach
  void begin() throws SQLException {
    api = Api.as(Role.WRITE);
    if (path == null) {
      path = makeStoreOf64Mebibytes();
    }
  }

  private String makeStoreOf64Mebibytes() throws SQLException {
    String storeId = api.post("/v1/datastore", "{}").get("id");
    execute(
        """
        insert into datastore_entry (store_id, key, value, version, updated_at)
        select '%s', convert_to(to_char(n, 'FM0000'), 'UTF8'), '"' || repeat('x', %d) || '"',
          nextval('datastore_version'), now()
        from generate_series(1, %d) n"""
            .formatted(storeId, VALUE_BYTES, ENTRIES));
    return "/v1/datastore/" + storeId;
  }

  @Test
  void aSlowReaderFillsNoHeapAndHoldsNothingInTheDatabase() throws Exception {
    long before = usedHeapBytes();
    try (InputStream export = Streams.get(api, path + "/export")) {
      export.read();
      awaitQuiet();
      long more = usedHeapBytes() - before;
      assertTrue(more < 24 * MEBIBYTE, "the heap grew by " + more);
      // Others have transactions, too, but for moments.
      Await.until(
          "no transaction is open",
          () -> number("select count(*) from pg_stat_activity where state like 'idle in%'") == 0);
      assertEquals(ENTRIES - 1, lines(export).skip(1).count());
    }
  }

  @Test
  void manySlowReadersLeaveConnectionsForOthers() throws Exception {
    List<InputStream> exports = new ArrayList<>();
    for (int i = 0; i < MANY_READERS; i++) {
      exports.add(Streams.get(api, path + "/export"));
    }
    awaitQuiet();
    assertEquals(200, api.get(path + "/entries/0001").status());
    for (InputStream export : exports) {
      export.close();
    }
  }

  @Test
  void aReaderThatGoesAwayEndsTheWork() throws Exception {
    InputStream export = Streams.get(api, path + "/export");
    export.read();
    awaitQuiet();
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      // Whoever reads on shows as one who waits for this lock.
      statement.execute("lock table datastore_entry in access exclusive mode");
      export.close();
      awaitQuiet();
      // One page may have been asked for before; and what has expired is looked for at any time.
      for (int i = 0; i < 3 && isWaitedFor(); i++) {
        connection.rollback();
        statement.execute("lock table datastore_entry in access exclusive mode");
        awaitQuiet();
      }
      assertFalse(isWaitedFor(), "it reads on");
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  @Test
  void anExportThatFailsOnTheWayBreaksTheConnection() throws Exception {
    String deleted = makeStoreOf64Mebibytes();
    try (InputStream export = Streams.get(api, deleted + "/export")) {
      export.read();
      awaitQuiet();
      assertEquals(204, api.delete(deleted).status());
      assertThrows(IOException.class, () -> export.transferTo(OutputStream.nullOutputStream()));
    }
  }

  @Test
  void anExportCanBeImportedWhileItIsRead() throws Exception {
    String copy = "/v1/datastore/" + api.post("/v1/datastore", "{}").get("id");
    try (InputStream export = Streams.get(api, path + "/export")) {
      Answer imported =
          Streams.post(api, copy + "/import", BodyPublishers.ofInputStream(() -> export));
      assertEquals("{\"imported\":1024,\"expired\":0}", imported.text());
    }
    assertEquals((int) api.get(path).get("size_bytes"), (int) api.get(copy).get("size_bytes"));
  }

  @Test
  void anImportFillsNoHeap() {
    String empty = "/v1/datastore/" + api.post("/v1/datastore", "{}").get("id");
    long before = usedHeapBytes();
    AtomicLong after = new AtomicLong();
    byte[] line =
        "{\"key\":\"a\",\"value\":\"%s\"}\n"
            .formatted("x".repeat(1_000_000))
            .getBytes(StandardCharsets.UTF_8);
    Iterable<byte[]> lines =
        () ->
            IntStream.rangeClosed(1, 64)
                .peek(n -> after.updateAndGet(bytes -> n == 60 ? usedHeapBytes() : bytes))
                .mapToObj(n -> line)
                .iterator();
    Answer imported = Streams.post(api, empty + "/import", BodyPublishers.ofByteArrays(lines));
    assertEquals("{\"imported\":64,\"expired\":0}", imported.text());
    long more = after.get() - before;
    assertTrue(after.get() > 0 && more < 24 * MEBIBYTE, "the heap grew by " + more);
  }

  private static Stream<String> lines(InputStream stream) {
    return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8)).lines();
  }

  /** Until nothing has been asked of the entries for a while: what was to be sent waits. */
  private void awaitQuiet() {
    Await.until(
        "the export stands still",
        () ->
            number(
                    """
                    select count(*) from pg_stat_activity where pid <> pg_backend_pid()
                    and query like '%datastore_entry%'
                    and (state = 'active' and wait_event_type is distinct from 'Lock'
                      or state_change > now() - interval '0.5 s')""")
                == 0);
  }

  private boolean isWaitedFor() {
    return number("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") > 0;
  }

  private static long usedHeapBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private long number(String query) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void execute(String statement) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement jdbc = connection.createStatement()) {
      jdbc.execute(statement);
    }
  }
}
