package dev.roost.execution;

import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The number of items of a list. Counting ends at a limit, so that its cost is bounded.
 *
 * @param more there are more than {@code count}
 * @param oldest when the first of the counted ones was created
 */
@Schema(name = "Count")
record Count(
    @Schema(description = "The number of items, at most 10000") int count,
    @Schema(description = "Whether there are more than count") boolean more,
    @Schema(
            nullable = true,
            description =
                "When the oldest ExecutorJob was created; null for Executions and if there is none")
        Instant oldestCreatedAt) {
  static final int MOST = 10_000;

  /**
   * @param rows the part of a query after {@code from}
   */
  static String statement(String rows) {
    return statement("null::timestamptz", rows);
  }

  /**
   * @param time the column of the time of creation
   * @param rows the part of a query after {@code from}
   */
  static String statement(String time, String rows) {
    return """
        select count(*) as count, min(oldest) as oldest
        from (select %s as oldest from %s limit :most) counted"""
        .formatted(time, rows);
  }

  static Count of(ResultSet row) throws SQLException {
    int count = row.getInt("count");
    return new Count(Math.min(count, MOST), count > MOST, Sql.instant(row, "oldest"));
  }
}
