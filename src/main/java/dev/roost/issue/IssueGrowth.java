package dev.roost.issue;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Whether an issue grows fast: an hour has many failures, and many times the average of the day
 * before. Recorded at most once a day, so that an issue that stays bad is not reported each hour.
 */
final class IssueGrowth {
  /** Fewer failures in an hour are no growth. */
  static final int LEAST = 50;

  /** How many times the average of the 24 hours before. */
  static final int FACTOR = 5;

  private static final Sql NOTE =
      Sql.of(
          """
          update issue set growing_at = :now
          where id = :id and (growing_at is null or growing_at <= :dayBefore)
            and (select h.failures from issue_hour h where h.issue_id = :id and h.hour = :hour) >= :factor * (
              select coalesce(sum(h.failures), 0) / 24.0 from issue_hour h
              where h.issue_id = :id and h.hour >= :dayBeforeHour and h.hour < :hour)""");

  private IssueGrowth() {}

  static boolean mayBe(long failuresInHour) {
    return failuresInHour >= LEAST;
  }

  /**
   * Records the event if the issue grows fast.
   *
   * @param now when its latest failure ended
   */
  static void note(Connection connection, Issue issue, Instant now) throws SQLException {
    Instant hour = now.truncatedTo(ChronoUnit.HOURS);
    int noted =
        NOTE.with("id", issue.id())
            .with("now", now)
            .with("dayBefore", now.minus(1, ChronoUnit.DAYS))
            .with("hour", hour)
            .with("dayBeforeHour", hour.minus(1, ChronoUnit.DAYS))
            .with("factor", FACTOR)
            .update(connection);
    if (noted > 0) {
      IssueEvents.note(connection, IssueEvents.GROWING, issue);
    }
  }
}
