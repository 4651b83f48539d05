package dev.roost.api;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;
import java.util.List;

/** Removes what nobody can sign in with any more: sessions and login links that have ended. */
public final class OldSessions {
  public static final int LIMIT = 1_000;

  public static final Sql DELETE = delete("login_session");
  public static final Sql DELETE_LINKS = delete("login_link");

  private OldSessions() {}

  public static void remove(ThrottledBatches batches, Instant now) {
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
