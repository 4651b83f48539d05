package dev.roost.executor;

import dev.roost.db.Sql;
import java.time.Instant;
import java.util.List;

/** Removes expired sessions and login links. */
final class OldSessions {
  static final int LIMIT = 1_000;

  static final Sql DELETE = delete("login_session");
  static final Sql DELETE_LINKS = delete("login_link");

  private OldSessions() {}

  static void remove(ThrottledBatches batches, Instant now) {
    for (Sql delete : List.of(DELETE, DELETE_LINKS)) {
      batches.steps(LIMIT, delete.with("now", now).with("limit", LIMIT)::update);
    }
  }

  private static Sql delete(String table) {
    return Sql.of(
        """
        delete from %1$s where ctid = any(array(
          select ctid from %1$s where expires_at <= :now limit :limit for update skip locked))"""
            .formatted(table));
  }
}
