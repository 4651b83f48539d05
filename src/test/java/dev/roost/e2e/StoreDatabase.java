package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A Roost's embedded database, past Roost. */
final class StoreDatabase {
  private StoreDatabase() {}

  /**
   * The first column of a query's rows.
   *
   * @throws SQLException also when the database isn't there just now
   */
  static List<String> query(RoostProcess roost, String... statements) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Connection connection =
            DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:" + read(roost, "port") + "/postgres",
                "roost",
                read(roost, "password"));
        Statement statement = connection.createStatement()) {
      for (String one : statements) {
        rows.clear();
        if (statement.execute(one)) {
          try (ResultSet found = statement.getResultSet()) {
            while (found.next()) {
              rows.add(found.getString(1));
            }
          }
        }
      }
    }
    return rows;
  }

  /** Ends every connection of Roost's; 0 when the database isn't there just now. */
  static int terminateConnections(RoostProcess roost) {
    try {
      return query(
              roost,
              "select pg_terminate_backend(pid) from pg_stat_activity"
                  + " where backend_type = 'client backend' and pid <> pg_backend_pid()")
          .size();
    } catch (SQLException e) {
      return 0;
    }
  }

  private static String read(RoostProcess roost, String name) {
    try {
      return Files.readString(roost.data().resolve("database." + name)).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
