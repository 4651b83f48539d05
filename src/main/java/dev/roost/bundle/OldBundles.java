package dev.roost.bundle;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.file.Files;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * Removes bundles that no revision refers to, and releases the files that no other bundle needs.
 */
public final class OldBundles {
  public static final int LIMIT = 100;

  public static final Sql UNUSED =
      Sql.of(
          """
          select b.id, b.created_at from bundle b
          where b.created_at < :before and (b.created_at, b.id) > (:afterTime, :afterId)
            and not exists (select 1 from agent_revision r where r.bundle_id = b.id)
          order by b.created_at, b.id limit :limit""");

  /**
   * A revision or a bundle that is being created has locked the bundle: then it waits for the next
   * pass. Those that come later wait, and find no bundle.
   */
  public static final Sql LOCK =
      Sql.of(
          """
          select id from bundle where id = any(:ids) order by id for update skip locked""");

  public static final Sql FILES =
      Sql.of("select distinct file_id from bundle_file where bundle_id = any(:ids)");

  /** After the lock, so that it sees all revisions. */
  public static final Sql DELETE =
      Sql.of(
          """
          delete from bundle b where b.id = any(:ids)
            and not exists (select 1 from agent_revision r where r.bundle_id = b.id)""");

  public static final Sql NEEDLESS =
      Sql.of(
          """
          select f.id from unnest(cast(:files as text[])) f (id)
          where not exists (select 1 from bundle_file b where b.file_id = f.id)""");

  private OldBundles() {}

  private record Position(Instant time, String id) {
    static final Position FIRST = new Position(Instant.EPOCH, "");

    static Position read(ResultSet row) throws SQLException {
      return new Position(Sql.instant(row, "created_at"), row.getString("id"));
    }
  }

  /** Removes those that were created before. */
  public static void remove(ThrottledBatches batches, Instant before) {
    Position last = Position.FIRST;
    while (last != null) {
      Sql.Bound unused =
          UNUSED
              .with("before", before)
              .with("afterTime", last.time())
              .with("afterId", last.id())
              .with("limit", LIMIT);
      List<Position> found = batches.step(connection -> unused.list(connection, Position::read));
      last = found.size() < LIMIT ? null : found.get(found.size() - 1);
      if (!found.isEmpty()) {
        String[] ids = found.stream().map(Position::id).toArray(String[]::new);
        batches.step(connection -> delete(connection, ids));
      }
    }
  }

  private static int delete(Connection connection, String[] found) throws SQLException {
    String[] ids = LOCK.with("ids", found).strings(connection).toArray(String[]::new);
    List<String> files = FILES.with("ids", ids).strings(connection);
    int deleted = DELETE.with("ids", ids).update(connection);
    // With the lock, either a bundle that is being created refers to a file already, or it can't.
    Files.lock(connection, files);
    List<String> needless =
        NEEDLESS.with("files", files.toArray(String[]::new)).strings(connection);
    Files.release(connection, needless);
    return deleted;
  }
}
