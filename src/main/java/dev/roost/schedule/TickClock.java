package dev.roost.schedule;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;

/** The clock that decides what is due: the same for all replicas. */
interface TickClock {
  Sql NOW = Sql.of("select clock_timestamp() as now");

  /** The database's clock. */
  TickClock DATABASE =
      connection -> NOW.with().first(connection, row -> Sql.instant(row, "now")).orElseThrow();

  Instant now(Connection connection) throws SQLException;
}
