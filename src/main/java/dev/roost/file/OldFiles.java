package dev.roost.file;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * Removes files that no job refers to and that aren't kept. The row is marked, the parts are
 * deleted, then the row: so what an interruption leaves is found again.
 */
public final class OldFiles {
  public static final int LIMIT = 100;

  public static final Sql UNUSED =
      Sql.of(
          """
          select f.id, f.used_at from file f
          where f.used_at < :before and (f.used_at, f.id) > (:afterTime, :afterId) and f.state <> 'removed'
            and not f.kept and not exists (select 1 from job_file j where j.file_id = f.id)
          order by f.used_at, f.id limit :limit""");

  /** A job that gets the file at the same moment has changed used_at, or sees the mark. */
  public static final Sql MARK =
      Sql.of(
          """
          update file f set state = 'removed'
          where f.id = any(:ids) and f.used_at < :before
            and not f.kept and not exists (select 1 from job_file j where j.file_id = f.id)""");

  public static final Sql MARKED =
      Sql.of(
          "select "
              + StoredFile.COLUMNS
              + " from file f where f.state = 'removed' and f.id > :after order by f.id limit :limit");

  public static final Sql DELETE = Sql.of("delete from file where id = :id and state = 'removed'");

  private OldFiles() {}

  private record Position(Instant time, String id) {
    static final Position FIRST = new Position(Instant.EPOCH, "");

    static Position read(ResultSet row) throws SQLException {
      return new Position(Sql.instant(row, "used_at"), row.getString("id"));
    }
  }

  /** Removes what no job has referred to since then. */
  public static void remove(ThrottledBatches batches, Instant before, Files files) {
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
      String[] ids = found.stream().map(Position::id).toArray(String[]::new);
      Sql.Bound mark = MARK.with("ids", ids).with("before", before);
      batches.step(mark::update);
    }
    finish(batches, files);
  }

  private static void finish(ThrottledBatches batches, Files files) {
    String after = "";
    while (true) {
      Sql.Bound marked = MARKED.with("after", after).with("limit", LIMIT);
      List<StoredFile> found =
          batches.step(connection -> marked.list(connection, StoredFile::read));
      if (found.isEmpty()) {
        return;
      }
      for (StoredFile file : found) {
        if (files.deleteParts(file)) {
          batches.step(DELETE.with("id", file.id())::update);
        }
      }
      after = found.get(found.size() - 1).id();
    }
  }
}
