package dev.roost.schedule;

import dev.roost.TestDatabase;
import dev.roost.api.Json;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.execution.ScheduledJobs.Submitted;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.exceptionsorter.PostgreSQLExceptionSorter;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.flywaydb.core.Flyway;

/** A database with Roost's tables, and tickers on it: nothing else of Roost runs. */
final class TickerWorld implements AutoCloseable {
  private static final Duration MISSED_AFTER = Duration.ofMinutes(1);

  private final TestDatabase server = new TestDatabase();
  private final String url;
  private final AgroalDataSource pool;
  private final Database database;

  TickerWorld() {
    url = server.start().get("quarkus.datasource.jdbc.url");
    Flyway.configure().dataSource(url, "roost", "roost").load().migrate();
    pool = pool(url);
    database = new Database(pool);
  }

  static AgroalDataSource pool(String url) {
    try {
      return AgroalDataSource.from(
          new AgroalDataSourceConfigurationSupplier()
              .connectionPoolConfiguration(
                  pool ->
                      pool.maxSize(8)
                          .acquisitionTimeout(Duration.ofSeconds(30))
                          .exceptionSorter(new PostgreSQLExceptionSorter())
                          .connectionFactoryConfiguration(
                              factory ->
                                  factory
                                      .jdbcUrl(url)
                                      .principal(new NamePrincipal("roost"))
                                      .credential(new SimplePassword("roost")))));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  String url() {
    return url;
  }

  TestDatabase server() {
    return server;
  }

  Database database() {
    return database;
  }

  Ticker ticker(TickClock clock, int queuedJobs, List<Submitted> made) {
    return ticker(database, clock, queuedJobs, made);
  }

  static Ticker ticker(Database database, TickClock clock, int queuedJobs, List<Submitted> made) {
    return new Ticker(
        database, clock, new Ticker.Settings(MISSED_AFTER, queuedJobs), made::addAll, late -> {});
  }

  void agent(String id) {
    execute(
        """
        insert into agent (id, name, revision, timeout_seconds, memory_mib, cpu, max_concurrency, max_attempts,
          retry_delay_seconds, keep_warm_seconds, isolation, created_at, updated_at)
        values ('%s', '%s', 3, 900, 256, 1, 1, 1, 1, 1, 'process', now(), now())"""
            .formatted(id, id));
  }

  /**
   * A schedule whose next time is that one.
   *
   * @param assignments of further columns, for example {@code "overlap = 'skip'"}
   */
  void schedule(String id, String agent, String cron, Instant next, String... assignments) {
    execute(
        """
        insert into schedule (id, agent_id, name, cron, time_zone, state, missed_runs, missed_runs_limit, overlap,
          jitter_seconds, next_run_at, due_at, created_at, updated_at)
        values ('%s', '%s', '%s', '%s', 'UTC', 'active', 'run_once', 100, 'allow', 0, '%s', '%s', now(), now())"""
            .formatted(id, agent, id, cron, next, next));
    for (String assignment : assignments) {
      execute("update schedule set " + assignment + " where id = '" + id + "'");
    }
  }

  void execute(String statement) {
    database.once(
        connection -> {
          try (Statement all = connection.createStatement()) {
            return all.execute(statement);
          }
        });
  }

  /** The columns of the rows, as text with a space between. */
  List<String> rows(String query) {
    return database.once(connection -> rows(connection, query));
  }

  static List<String> rows(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(query)) {
      List<String> rows = new ArrayList<>();
      while (found.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
          row.append(i == 1 ? "" : " ").append(found.getString(i));
        }
        rows.add(row.toString());
      }
      return rows;
    }
  }

  /** The scheduled times of a schedule's jobs, hours and minutes. */
  List<String> times(String schedule) {
    return rows(
        "select to_char(scheduled_time at time zone 'UTC', 'HH24:MI') from executor_job"
            + " where schedule_id = '%s' order by scheduled_time".formatted(schedule));
  }

  /** What was told to be skipped: reason, first, last, count. */
  List<String> skipped(String schedule) {
    return rows(
        """
        select data::json ->> 'reason', substr(data::json ->> 'scheduled_time', 12, 5),
          substr(data::json ->> 'last_scheduled_time', 12, 5), data::json ->> 'count'
        from event where type = 'schedule.skipped' and subject = '%s' order by id"""
            .formatted(schedule));
  }

  Instant next(String schedule) {
    return database.once(
        connection ->
            Sql.of("select next_run_at from schedule where id = :id")
                .with("id", schedule)
                .first(connection, row -> Sql.instant(row, "next_run_at"))
                .orElseThrow());
  }

  static String text(Instant time) {
    return Json.time(time);
  }

  @Override
  public void close() {
    pool.close();
    server.stop();
  }
}
