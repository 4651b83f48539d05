package dev.roost.log;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.util.List;

/** Removes logs, before what they belong to: one may have a hundred thousand entries. */
public final class OldLogs {
  /** Entries of up to 64 KiB each. */
  public static final int LIMIT = 1_000;

  public static final Sql DELETE =
      Sql.of(
          """
          delete from log_entry where ctid = any(array(
            select ctid from log_entry where owner_id = any(:owners) limit :limit for update skip locked))""");

  private OldLogs() {}

  /**
   * @param owners identifiers of Executions or BuilderJobs
   */
  public static void remove(ThrottledBatches batches, List<String> owners) {
    if (!owners.isEmpty()) {
      String[] array = owners.toArray(String[]::new);
      batches.steps(
          LIMIT,
          connection -> DELETE.with("owners", array).with("limit", LIMIT).update(connection));
    }
  }
}
