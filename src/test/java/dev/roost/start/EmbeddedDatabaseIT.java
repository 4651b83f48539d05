package dev.roost.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.runtime.local.BoundedLog;
import dev.roost.runtime.local.DataDirectory;
import dev.roost.runtime.local.LiveProcess;
import dev.roost.runtime.local.PrivateFiles;
import dev.roost.runtime.local.StartFailed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class EmbeddedDatabaseIT {
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private static Path root;
  private static DataDirectory data;

  @BeforeAll
  static void makeDirectory() throws Exception {
    root = Files.createTempDirectory("roost-database");
    data = new DataDirectory(root);
    data.create();
  }

  @AfterAll
  static void removeDirectory() throws Exception {
    PrivateFiles.deleteTree(root);
  }

  @Test
  void itKeepsWhatIsWrittenAndLeavesNothingRunning() throws Exception {
    try (EmbeddedDatabase database = EmbeddedDatabase.start(data)) {
      execute(database, "create table kept (n int)", "insert into kept values (42)");
    }
    assertEquals(List.of(), LiveProcess.workingIn(root));
    try (EmbeddedDatabase database = EmbeddedDatabase.start(data)) {
      assertEquals("42", query(database, "select n from kept"));
      assertEquals("on", query(database, "show synchronous_commit"));
      assertEquals("C.UTF-8", query(database, "select datlocale from pg_database limit 1"));
    }
  }

  @Test
  void onlyWhoHasThePasswordGetsIn() throws Exception {
    try (EmbeddedDatabase database = EmbeddedDatabase.start(data)) {
      assertThrows(
          SQLException.class,
          () -> DriverManager.getConnection(database.jdbcUrl(), database.username(), "wrong"));
      assertEquals("127.0.0.1", query(database, "show listen_addresses"));
      assertEquals("", query(database, "show unix_socket_directories"));
    }
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(data.databasePassword())));
  }

  @Test
  void oneThatStillRunsIsAdopted() throws Exception {
    EmbeddedDatabase killed = EmbeddedDatabase.start(data);
    try (EmbeddedDatabase next = EmbeddedDatabase.start(data)) {
      assertEquals(killed.pid(), next.pid());
      assertEquals(killed.jdbcUrl(), next.jdbcUrl());
      assertEquals("1", query(next, "select 1"));
    }
    killed.close();
    assertEquals(List.of(), LiveProcess.workingIn(root));
  }

  @Test
  void aKilledOneIsStartedAgainOnTheSamePort() throws Exception {
    try (EmbeddedDatabase database = EmbeddedDatabase.start(data)) {
      execute(database, "create table if not exists committed (n int)");
      execute(database, "truncate committed", "insert into committed values (1)");
      long first = database.pid();
      try (Connection busy = connect(database)) { // Its backend outlives the kill for a moment.
        ProcessHandle.of(first).orElseThrow().destroyForcibly();
        Await.until(
            "PostgreSQL runs again", LIMIT, () -> database.pid() != first && answers(database));
      }
      assertNotEquals(first, database.pid());
      assertEquals("1", query(database, "select count(*) from committed"));
    }
    assertEquals(List.of(), LiveProcess.workingIn(root));
  }

  @Test
  void aStalePidFileOfAnotherProcessMisleadsNobody() throws Exception {
    EmbeddedDatabase.start(data).close();
    Process bystander = new ProcessBuilder("sleep", "100").start();
    String stale =
        """
        %d
        %s
        1700000000
        1
        /nowhere
        127.0.0.1
        0 0
        ready
        """
            .formatted(bystander.pid(), data.database());
    Files.writeString(data.database().resolve("postmaster.pid"), stale);
    assertTrue(Postmaster.running(data.database()).isEmpty());
    try (EmbeddedDatabase database = EmbeddedDatabase.start(data)) {
      assertEquals("1", query(database, "select 1"));
    } finally {
      bystander.destroyForcibly();
    }
  }

  @Test
  void aDatabaseOfAnotherVersionIsLeftAloneAndReported() throws Exception {
    EmbeddedDatabase.start(data).close();
    Path file = data.database().resolve("PG_VERSION");
    Path aside = file.resolveSibling("PG_VERSION.aside");
    Files.move(file, aside);
    try {
      Files.writeString(file, "15\n");
      StartFailed failure =
          assertThrows(StartFailed.class, () -> EmbeddedDatabase.start(data).close());
      assertTrue(failure.getMessage().contains("PostgreSQL 15"), failure.getMessage());
    } finally {
      Files.move(aside, file, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Test
  void aDatabaseThatCannotStartSaysWhy() throws Exception {
    EmbeddedDatabase.start(data).close();
    Path file = data.database().resolve("pg_hba.conf");
    Path aside = file.resolveSibling("pg_hba.conf.aside");
    Files.move(file, aside);
    try {
      StartFailed failure =
          assertThrows(StartFailed.class, () -> EmbeddedDatabase.start(data).close());
      assertTrue(failure.getMessage().contains("pg_hba.conf"), failure.getMessage());
      assertEquals(List.of(), LiveProcess.workingIn(root));
    } finally {
      Files.move(aside, file);
    }
  }

  @Test
  void aLongLogIsCutToItsEnd() throws IOException {
    Path file = root.resolve("long.log");
    Files.writeString(file, "old line\n".repeat(1000) + "last line\n");
    BoundedLog log = new BoundedLog(file, 1000);
    log.trim();
    assertEquals(0, Files.size(file));
    Path old = root.resolve("long.log.1");
    assertEquals(500, Files.size(old));
    assertTrue(Files.readString(old).endsWith("last line\n"));
    assertFalse(log.lastLines().contains("old"));
  }

  private static boolean answers(EmbeddedDatabase database) {
    try {
      return query(database, "select 1").equals("1");
    } catch (SQLException e) {
      return false;
    }
  }

  private static Connection connect(EmbeddedDatabase database) throws SQLException {
    return DriverManager.getConnection(
        database.jdbcUrl(), database.username(), database.password());
  }

  private static void execute(EmbeddedDatabase database, String... statements) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      for (String one : statements) {
        statement.execute(one);
      }
    }
  }

  private static String query(EmbeddedDatabase database, String question) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(question)) {
      answer.next();
      return answer.getString(1);
    }
  }
}
