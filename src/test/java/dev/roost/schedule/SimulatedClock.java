package dev.roost.schedule;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;

/** A clock in a table, which all tickers read: it goes faster than the real one. */
final class SimulatedClock implements TickClock {
  private static final Sql READ =
      Sql.of("select base + (clock_timestamp() - started) * factor as now from simulated_clock");

  /** How many simulated seconds are a real one. */
  private final double factor;

  SimulatedClock(double factor) {
    this.factor = factor;
  }

  double factor() {
    return factor;
  }

  /** Shows that time until it starts. */
  void make(TickerWorld world, Instant base) {
    world.execute(
        """
        create table simulated_clock as
        select timestamptz '%s' as base, clock_timestamp() as started, cast(0 as double precision) as factor"""
            .formatted(base));
  }

  void start(TickerWorld world) {
    world.execute("update simulated_clock set started = clock_timestamp(), factor = " + factor);
  }

  @Override
  public Instant now(Connection connection) throws SQLException {
    return READ.with().first(connection, row -> Sql.instant(row, "now")).orElseThrow();
  }
}
