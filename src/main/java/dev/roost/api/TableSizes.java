package dev.roost.api;

import dev.roost.api.Storage.Area;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Estimates how many bytes of tables are in use. A table's files don't shrink when rows are
 * removed, since PostgreSQL keeps the space for new rows; the file size shows that a limit is
 * reached, but not that space is free again. The estimate uses a sample of some hundred pages of a
 * table and, for long values, which PostgreSQL stores separately, PostgreSQL's count of their
 * chunks.
 */
@ApplicationScoped
class TableSizes {
  private static final double SAMPLED_PAGES = 400;

  /** A chunk of a long value, with the database's overhead (TOAST_MAX_CHUNK_SIZE). */
  private static final int PIECE_BYTES = 2_048;

  private static final Sql FILES =
      Sql.of(
          """
          select pg_relation_size(c.oid) as rows, pg_indexes_size(c.oid) as indexes,
            coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) as pieces,
            coalesce((select s.n_live_tup from pg_stat_all_tables s where s.relid = c.reltoastrelid), 0) as live
          from pg_class c where c.oid = to_regclass(:name)""");

  private static final Table LOGS =
      new Table("log_entry", "80 + least(pg_column_size(message), 2000)");

  private static final Table JOBS =
      new Table("executor_job", "300 + least(coalesce(pg_column_size(payload), 0), 2000)");

  private static final Table EXECUTIONS =
      new Table(
          "execution",
          """
          400 + least(coalesce(pg_column_size(return_value), 0), 2000)
            + least(coalesce(pg_column_size(error), 0), 2000)""");

  private static final Table STEPS =
      new Table("executor_job_step", "200 + least(coalesce(pg_column_size(result), 0), 2000)");

  private static final Table STREAMS =
      new Table("stream_chunk", "100 + least(pg_column_size(data), 2000)");

  /** An exact count; 150: the overhead of an entry beyond key and value. */
  private static final Sql STORES =
      Sql.of(
          """
          select coalesce((select sum(size_bytes + 150 * entries) from datastore), 0)
            + coalesce((select sum(size_bytes + 150 * entries) from datastore_change), 0) as bytes""");

  /** Of their parts, not of their rows. */
  private static final Sql STORED_FILES =
      Sql.of("select coalesce(sum(size_bytes), 0)::int8 as bytes from file");

  private final Database database;

  TableSizes(Database database) {
    this.database = database;
  }

  /** A table and the length of its rows, without long values that are stored separately. */
  private record Table(String name, Sql sample) {
    Table(String name, String rowBytes) {
      this(
          name,
          Sql.of(
              "select coalesce(sum(%s), 0) as bytes from %s tablesample system (:percent)"
                  .formatted(rowBytes, name)));
    }
  }

  private record Files(long rows, long indexes, long pieces, long live) {}

  long bytes(Area area) {
    return database.once(
        connection ->
            switch (area) {
              case LOGS -> bytes(connection, LOGS);
              case PAYLOADS ->
                  bytes(connection, JOBS)
                      + bytes(connection, EXECUTIONS)
                      + bytes(connection, STEPS)
                      + bytes(connection, STREAMS);
              case STORES ->
                  STORES.with().first(connection, row -> row.getLong("bytes")).orElse(0L);
              case FILES ->
                  STORED_FILES.with().first(connection, row -> row.getLong("bytes")).orElse(0L);
            });
  }

  private static long bytes(Connection connection, Table table) throws SQLException {
    Files files =
        FILES
            .with("name", table.name())
            .first(
                connection,
                row ->
                    new Files(
                        row.getLong("rows"),
                        row.getLong("indexes"),
                        row.getLong("pieces"),
                        row.getLong("live")))
            .orElseThrow();
    if (files.rows() == 0) {
      return 0;
    }
    double part = Math.min(1, SAMPLED_PAGES * 8_192 / files.rows());
    long sampled =
        table
            .sample()
            .with("percent", 100 * part)
            .first(connection, row -> row.getLong("bytes"))
            .orElse(0L);
    double rows = Math.min(files.rows(), sampled / part);
    double indexes = files.indexes() * rows / files.rows();
    double pieces = Math.min(files.pieces(), (double) files.live() * PIECE_BYTES);
    return (long) (rows + indexes + pieces);
  }
}
