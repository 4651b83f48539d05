package dev.roost.agent;

import dev.roost.builds.OldBuilderJobs;
import dev.roost.datastore.DataStore;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;
import java.util.List;

/** Removes what is left of agents that were deleted long ago and have no history any more. */
public final class OldAgents {
  public static final int LIMIT = 100;

  public static final Sql OLD =
      Sql.of(
          """
          select a.id from agent a where a.deleted_at < :before and a.id > :after
            and not exists (select 1 from executor_job j where j.agent_id = a.id)
            and not exists (select 1 from execution e where e.agent_id = a.id)
            and not exists (select 1 from executor x where x.agent_id = a.id and x.state <> 'ended')
            and not exists (select 1 from schedule s where s.agent_id = a.id)
          order by a.id limit :limit""");

  /** A script may have a megabyte. */
  public static final Sql DELETE_REVISIONS =
      Sql.of(
          """
          delete from agent_revision where ctid = any(array(
            select ctid from agent_revision where agent_id = :agent limit :limit for update skip locked))""");

  public static final Sql BUILDER_JOBS =
      Sql.of(
          """
          select id from builder_job
          where agent_id = :agent and id > :after and state not in ('queued', 'running')
          order by id limit :limit""");

  public static final Sql DELETE =
      Sql.of(
          """
          delete from agent a where a.id = :agent and a.deleted_at is not null
            and not exists (select 1 from agent_revision r where r.agent_id = a.id)
            and not exists (select 1 from builder_job j where j.agent_id = a.id)""");

  private OldAgents() {}

  public static void remove(ThrottledBatches batches, Instant before) {
    String after = "";
    while (true) {
      Sql.Bound select = OLD.with("before", before).with("after", after).with("limit", LIMIT);
      List<String> old = batches.step(connection -> select.strings(connection));
      if (old.isEmpty()) {
        return;
      }
      old.forEach(agent -> remove(batches, agent));
      after = old.get(old.size() - 1);
    }
  }

  private static void remove(ThrottledBatches batches, String agent) {
    batches.steps(LIMIT, DELETE_REVISIONS.with("agent", agent).with("limit", LIMIT)::update);
    String after = "";
    while (true) {
      Sql.Bound select =
          BUILDER_JOBS.with("agent", agent).with("after", after).with("limit", LIMIT);
      List<String> jobs = batches.step(connection -> select.strings(connection));
      if (jobs.isEmpty()) {
        break;
      }
      OldBuilderJobs.remove(batches, jobs);
      after = jobs.get(jobs.size() - 1);
    }
    batches.step(
        connection -> {
          DataStore.DETACH_ALL.with("agent", agent).update(connection);
          return DELETE.with("agent", agent).update(connection);
        });
  }
}
