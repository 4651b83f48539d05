package dev.roost.builds;

import dev.roost.api.Ids;
import dev.roost.api.Page;
import dev.roost.db.Sql;
import dev.roost.runtime.Requirements;
import dev.roost.state.BuilderJobState;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.panache.common.Parameters;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** One attempt to build an agent's dependencies. */
@Entity(name = "builder_job")
public class BuilderJob extends PanacheEntityBase {
  private static final Sql LOCK_AGENT =
      Sql.of(
          """
          select a.id from agent a join builder_job j on j.agent_id = a.id where j.id = :job
          for update of a""");

  private static final Sql RUN_NEWEST =
      Sql.of(
          """
          update agent a set running_revision = built.revision
          from (
            select agent_id, max(revision) as revision from agent_revision
            where builder_job_id = :job group by agent_id) built
          where a.id = built.agent_id and built.revision > coalesce(a.running_revision, 0)""");

  private static final Sql RUN_ALL_NEWEST =
      Sql.of(
          """
          update agent a set running_revision = built.revision
          from (
            select r.agent_id, max(r.revision) as revision
            from agent_revision r join builder_job j on j.id = r.builder_job_id and j.state = 'succeeded'
            group by r.agent_id) built
          where a.id = built.agent_id and a.deleted_at is null
            and built.revision > coalesce(a.running_revision, 0)""");

  @Id public String id;
  public String agentId;
  public int agentRevision;
  public String pythonVersion;

  @Convert(converter = RequirementsColumn.class)
  public Requirements requirements;

  public String imageKey;

  /** See {@link BuildInputs#base}. */
  public String base;

  /** See {@link BuildInputs#nonce}. */
  public String nonce;

  @Enumerated(EnumType.STRING)
  public BuilderJobState state;

  public String reason;
  public String message;
  public String buildId;
  public boolean reused;

  /** Bytes of the builder's output that are in the log. */
  public long logOffset;

  public Instant createdAt;
  public Instant startedAt;
  public Instant finishedAt;

  /** A request to build the dependencies of an agent's revision. */
  public record Request(String agentId, int agentRevision, BuildInputs inputs) {}

  /**
   * Creates the BuilderJob; the job has already succeeded when a Build of that key exists.
   *
   * @param usable whether the runtime still has that Build
   */
  public static BuilderJob create(Request request, boolean usable, Instant now) {
    BuilderJob job = new BuilderJob();
    job.id = Ids.next("bjob");
    job.agentId = request.agentId();
    job.agentRevision = request.agentRevision();
    job.pythonVersion = request.inputs().pythonVersion();
    job.requirements = request.inputs().requirements();
    job.imageKey = request.inputs().imageKey();
    job.base = request.inputs().base();
    job.nonce = request.inputs().nonce();
    job.state = BuilderJobState.QUEUED;
    job.createdAt = now;
    if (usable) {
      Build.ofKey(job.imageKey)
          .ifPresent(
              build -> {
                job.state = BuilderJobState.SUCCEEDED;
                job.reused = true;
                job.buildId = build.id;
                job.finishedAt = now;
              });
    }
    job.persist();
    return job;
  }

  boolean isOpen() {
    return !state.isFinal();
  }

  public boolean hasSucceeded() {
    return state == BuilderJobState.SUCCEEDED;
  }

  public boolean hasFailed() {
    return state.isFailure();
  }

  public boolean hasEnded() {
    return state.isFinal();
  }

  /** BuilderJobs that have not ended: running jobs first, then queued jobs, oldest first. */
  static List<BuilderJob> open() {
    return list("state in ('queued', 'running') order by state desc, id");
  }

  /** The agent's latest BuilderJob of that key. */
  public static Optional<BuilderJob> latest(String agentId, String imageKey) {
    return BuilderJob.<BuilderJob>find(
            "agentId = ?1 and imageKey = ?2 order by createdAt desc, id desc", agentId, imageKey)
        .firstResultOptional();
  }

  static boolean isOpen(String id) {
    return count("id = ?1 and state in ('queued', 'running')", id) > 0;
  }

  /** Records new inputs, when they differ from those at the job's creation. */
  static void change(String id, BuildInputs inputs) {
    update(
        "imageKey = ?1, base = ?2 where id = ?3 and state in ('queued', 'running')",
        inputs.imageKey(),
        inputs.base(),
        id);
  }

  static boolean start(String id, Instant now) {
    return update(
            "state = 'running', startedAt = :now where id = :id and state = 'queued'",
            Parameters.with("now", now).and("id", id))
        == 1;
  }

  /** Queues a running BuilderJob again when the runtime has no capacity. */
  static void putBack(String id, String message) {
    update(
        "state = 'queued', startedAt = null, message = ?1 where id = ?2 and state = 'running'",
        message,
        id);
  }

  /**
   * Prevents changes of the agent until the transaction ends. Call it before acquiring other locks:
   * a change of an agent locks the agent first, too.
   */
  static void lockAgent(String id) {
    LOCK_AGENT.with("job", id).list(getEntityManager(), row -> row.getString("id"));
  }

  /**
   * Switches the agent, locked by {@link #lockAgent}, to the built revision, unless a newer
   * revision runs already.
   */
  static boolean succeed(String id, String buildId, boolean reused, Instant now) {
    boolean succeeded =
        update(
                """
                state = 'succeeded', buildId = :build, reused = :reused, message = null, finishedAt = :now
                where id = :id and state in ('queued', 'running')""",
                Parameters.with("build", buildId)
                    .and("reused", reused)
                    .and("now", now)
                    .and("id", id))
            == 1;
    if (succeeded) {
      runNewest(id);
    }
    return succeeded;
  }

  /**
   * Switches agents to their newest revision built by that BuilderJob, unless a newer revision runs
   * already.
   */
  public static void runNewest(String id) {
    RUN_NEWEST.with("job", id).update(getEntityManager());
  }

  /**
   * Switches all agents to their newest built revision. During an upgrade, a replica of an earlier
   * version without running revisions may have ended a build.
   */
  static void runWhatIsBuilt() {
    RUN_ALL_NEWEST.with().update(getEntityManager());
  }

  /** Records what a running build waits for; null: nothing. */
  static void explain(String id, String message) {
    update("message = ?1 where id = ?2 and state = 'running'", message, id);
  }

  static boolean fail(String id, String reason, String message, Instant now) {
    return update(
            """
            state = 'failed', reason = :reason, message = :message, finishedAt = :now
            where id = :id and state in ('queued', 'running')""",
            Parameters.with("reason", reason).and("message", message).and("now", now).and("id", id))
        == 1;
  }

  public static boolean cancel(String id, BuildReason reason, String message, Instant now) {
    return update(
            """
            state = 'cancelled', reason = :reason, message = :message, finishedAt = :now
            where id = :id and state in ('queued', 'running')""",
            Parameters.with("reason", reason.code())
                .and("message", message)
                .and("now", now)
                .and("id", id))
        == 1;
  }

  /**
   * @param states empty: all
   */
  static Page<View> page(String agentId, List<BuilderJobState> states, String cursor, int limit) {
    return Page.of(
        BuilderJob.<BuilderJob>find(
                """
                from builder_job
                where (:cursor is null or id < :cursor) and (:agent is null or agentId = :agent)
                  and state in :states
                order by id desc""",
                Parameters.with("cursor", cursor)
                    .and("agent", agentId)
                    .and(
                        "states", states.isEmpty() ? EnumSet.allOf(BuilderJobState.class) : states))
            .range(0, limit)
            .list(),
        limit,
        job -> job.id,
        View::of);
  }

  /** A BuilderJob in API responses. */
  @Schema(name = "BuilderJob")
  public record View(
      String id,
      String agentId,
      @Schema(
              description =
                  "The revision for which it was created. Later revisions with the same requirements use "
                      + "it, too")
          int agentRevision,
      @Schema(examples = "3.13", description = "Python minor version") String pythonVersion,
      @Schema(description = "Normalised and sorted, one package per line; empty for none")
          String requirements,
      @Schema(description = "succeeded, failed and cancelled are final") BuilderJobState state,
      @Schema(
              nullable = true,
              implementation = BuildReason.class,
              type = SchemaType.STRING,
              description = "Why it failed or was cancelled; null otherwise")
          String reason,
      @Schema(
              nullable = true,
              description =
                  "Why it failed or was cancelled, or what it waits for while it runs; null otherwise")
          String message,
      @Schema(
              nullable = true,
              description = "The Build that it created or reused; null if it has not succeeded")
          String buildId,
      @Schema(
              description =
                  "Whether an existing Build was reused, so that nothing had to be installed")
          boolean reused,
      Instant createdAt,
      @Schema(
              nullable = true,
              description =
                  "When its build began; null while it is queued, if it was cancelled before, or if it "
                      + "required no build")
          Instant startedAt,
      @Schema(nullable = true, description = "When it ended; null while it is queued or runs")
          Instant finishedAt) {
    static View of(BuilderJob job) {
      return new View(
          job.id,
          job.agentId,
          job.agentRevision,
          job.pythonVersion,
          job.requirements.text(),
          job.state,
          job.reason,
          job.message,
          job.buildId,
          job.reused,
          job.createdAt,
          job.startedAt,
          job.finishedAt);
    }
  }
}
