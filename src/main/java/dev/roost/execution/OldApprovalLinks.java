package dev.roost.execution;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;

/** Removes links of approvals that have ended. */
public final class OldApprovalLinks {
  public static final int LIMIT = 1_000;

  public static final Sql DELETE =
      Sql.of(
          """
          delete from approval_link where ctid = any(array(
            select ctid from approval_link where expires_at <= :now limit :limit for update skip locked))""");

  private OldApprovalLinks() {}

  public static void remove(ThrottledBatches batches, Instant now) {
    batches.steps(LIMIT, DELETE.with("now", now).with("limit", LIMIT)::update);
  }
}
