package dev.roost.agent;

import dev.roost.builds.Bases;
import dev.roost.builds.BuilderJob;
import dev.roost.builds.Outdated;
import dev.roost.db.Sql;
import dev.roost.runtime.Requirements;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds agents whose Build differs from a Build created now. */
@ApplicationScoped
public class OutdatedAgents {
  private static final Sql RUNNING =
      Sql.of(
          """
          select a.id, j.id as job, j.python_version, j.requirements, j.image_key, j.base, j.nonce, coalesce(j.finished_at, j.created_at) as finished_at, b.base as built_on
          from agent a
          join agent_revision r on r.agent_id = a.id and r.revision = coalesce(a.running_revision, a.revision)
          join builder_job j on j.id = r.builder_job_id and j.state = 'succeeded'
          join build b on b.id = j.build_id
          where a.deleted_at is null and (cast(:ids as text[]) is null or a.id = any(cast(:ids as text[])))
          order by a.id""");

  private final EntityManager entities;
  private final Bases bases;

  OutdatedAgents(EntityManager entities, Bases bases) {
    this.entities = entities;
    this.bases = bases;
  }

  /**
   * An agent that runs on an outdated Build.
   *
   * @param job the BuilderJob that created or reused the Build
   */
  public record Agent(String id, BuilderJob job, Outdated outdated) {}

  /** All outdated agents, by identifier; in the caller's transaction. */
  public List<Agent> all() {
    return find(null);
  }

  /** The outdated ones of these agents, by identifier; in the caller's transaction. */
  Map<String, Outdated> among(List<String> ids) {
    Map<String, Outdated> found = new HashMap<>();
    find(ids.toArray(String[]::new)).forEach(agent -> found.put(agent.id(), agent.outdated()));
    return found;
  }

  private record Running(String agent, BuilderJob job, String builtOn) {
    static Running of(ResultSet row) throws SQLException {
      BuilderJob job = new BuilderJob();
      job.id = row.getString("job");
      job.pythonVersion = row.getString("python_version");
      job.requirements = Requirements.of(row.getString("requirements"));
      job.imageKey = row.getString("image_key");
      job.base = row.getString("base");
      job.nonce = row.getString("nonce");
      job.finishedAt = Sql.instant(row, "finished_at");
      return new Running(row.getString("id"), job, row.getString("built_on"));
    }

    /** The fields that decide whether a Build is outdated; agents share Builds. */
    List<String> build() {
      return Arrays.asList(job.imageKey, job.base, builtOn);
    }
  }

  private List<Agent> find(String[] ids) {
    Map<List<String>, Optional<Outdated>> known = new HashMap<>();
    List<Agent> agents = new ArrayList<>();
    for (Running running : RUNNING.with("ids", ids).list(entities, Running::of)) {
      known
          .computeIfAbsent(
              running.build(), same -> bases.outdated(running.job(), running.builtOn()))
          .ifPresent(outdated -> agents.add(new Agent(running.agent(), running.job(), outdated)));
    }
    return agents;
  }
}
