package dev.roost.builds;

import dev.roost.api.Ids;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.log.OldLogs;
import java.time.Instant;
import java.util.List;

/**
 * Removes the logs of old BuilderJobs, except for those of agents' current revisions, and the
 * BuilderJobs that no agent revision and no rollout refers to.
 */
public final class OldBuilderJobs {
  public static final int LIMIT = 100;

  public static final Sql OLD =
      Sql.of(
          """
          select j.id from builder_job j where j.id > :after and j.id < :first and j.finished_at < :before
            and not exists (
              select 1 from agent_revision r join agent a on a.id = r.agent_id and r.revision in (a.revision, a.running_revision)
              where r.builder_job_id = j.id and a.deleted_at is null)
          order by j.id limit :limit""");

  /** While they are locked, no revision can begin to refer to them. */
  public static final Sql LOCK =
      Sql.of("select id from builder_job where id = any(:jobs) for update skip locked");

  public static final Sql DELETE =
      Sql.of(
          """
          delete from builder_job j where j.id = any(:jobs) and j.state not in ('queued', 'running')
            and not exists (select 1 from agent_revision r where r.builder_job_id = j.id)
            and not exists (select 1 from rollout_agent i where i.from_builder_job_id = j.id)
            and not exists (select 1 from rollout_agent i where i.to_builder_job_id = j.id)
            and not exists (select 1 from log_entry l where l.owner_id = j.id)""");

  private OldBuilderJobs() {}

  public static void remove(ThrottledBatches batches, Instant before) {
    String after = "";
    while (true) {
      Sql.Bound select =
          OLD.with("after", after)
              .with("first", Ids.first("bjob", before))
              .with("before", before)
              .with("limit", LIMIT);
      List<String> old = batches.step(connection -> select.strings(connection));
      if (old.isEmpty()) {
        return;
      }
      remove(batches, old);
      after = old.get(old.size() - 1);
    }
  }

  /** Removes the logs of the jobs, and the jobs that nothing refers to. */
  public static void remove(ThrottledBatches batches, List<String> jobs) {
    OldLogs.remove(batches, jobs);
    Sql.Bound lock = LOCK.with("jobs", jobs.toArray(String[]::new));
    Database.Work<Integer> delete =
        connection -> {
          String[] locked = lock.strings(connection).toArray(String[]::new);
          return DELETE.with("jobs", locked).update(connection); // sees who referred to them
        };
    batches.step(delete);
  }
}
