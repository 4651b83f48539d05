package dev.roost;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * A database on which another replica leads, and does nothing else: the application under test
 * serves requests, and its loops leave everything as the tests have made it.
 */
public class FollowerDatabase extends TestDatabase {
  private Connection leader;

  @Override
  public Map<String, String> start() {
    Map<String, String> settings = new HashMap<>(super.start());
    settings.put("roost.runtime", "kubernetes");
    settings.put("roost.files.directory", Path.of("target", "files").toAbsolutePath().toString());
    try {
      leader =
          DriverManager.getConnection(
              settings.get("quarkus.datasource.jdbc.url"), "roost", "roost");
      leader.createStatement().execute("select pg_advisory_lock(x'726f6f7374'::bigint)");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return settings;
  }

  @Override
  public void stop() {
    try {
      if (leader != null) {
        leader.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } finally {
      super.stop();
    }
  }
}
