package dev.roost.e2e;

import dev.roost.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Two control planes on one database and one namespace, with one address for executors. */
final class ReplicatedRoost implements AutoCloseable {
  private static final String KEY = "roost_replicas_" + "0123456789abcdef".repeat(3);

  private final TestDatabase database = new TestDatabase();
  private final Map<String, String> databaseSettings = database.start();
  private final Path keyFile;
  private final PodWorkers pods;
  private final List<RoostProcess> replicas;
  private final Relay relay;

  ReplicatedRoost(String... settings) {
    try {
      keyFile = Files.writeString(Files.createTempFile("replicas-", ".key"), KEY);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    pods = new PodWorkers(TestCluster.get());
    replicas = List.of(RoostProcess.replica(pods, settings), RoostProcess.replica(pods, settings));
    relay = new Relay(replicas.get(0).port(), replicas.get(1).port());
    for (int i = 0; i < replicas.size(); i++) {
      RoostProcess replica = replicas.get(i);
      replica.set(
          "ROOST_DATABASE_URL",
          databaseSettings.get("quarkus.datasource.jdbc.url") + "?ApplicationName=" + i);
      replica.set("ROOST_DATABASE_USERNAME", databaseSettings.get("quarkus.datasource.username"));
      replica.set("ROOST_DATABASE_PASSWORD", databaseSettings.get("quarkus.datasource.password"));
      replica.set("ROOST_API_KEY_FILE", keyFile.toString());
      replica.set(
          "ROOST_KUBERNETES_EXECUTOR_URL",
          "http://" + TestCluster.get().host() + ":" + relay.port());
    }
  }

  /** Starts both; the first one leads. */
  void start() {
    replicas.forEach(RoostProcess::start);
  }

  RoostProcess replica(int index) {
    return replicas.get(index);
  }

  Client client(int index) {
    return replicas.get(index).client();
  }

  PodWorkers pods() {
    return pods;
  }

  /** The replica that has the leader's lock. */
  Optional<Integer> leader() {
    try (Connection connection =
            DriverManager.getConnection(
                databaseSettings.get("quarkus.datasource.jdbc.url"),
                databaseSettings.get("quarkus.datasource.username"),
                databaseSettings.get("quarkus.datasource.password"));
        ResultSet row =
            connection
                .createStatement()
                .executeQuery(
                    "select application_name from pg_locks join pg_stat_activity using (pid)"
                        + " where locktype = 'advisory' and granted"
                        + " and (classid::bigint << 32 | objid::bigint) = x'726f6f7374'::bigint")) {
      return row.next() ? Optional.of(row.getInt(1)) : Optional.empty();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    replicas.forEach(RoostProcess::close);
    relay.close();
    database.stop();
    try {
      Files.delete(keyFile);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
