package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.builds.BuildReason;
import dev.roost.builds.Outdated;
import dev.roost.datastore.DataStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * An agent in API responses.
 *
 * @param envVars values are hidden from keys without the permission to write agents
 * @param timeout seconds
 * @param memory MiB
 * @param cpu cores
 * @param retryDelay seconds
 * @param neverRetry reasons that exclude another attempt
 * @param keepWarm seconds
 * @param activity null: not requested
 * @param runningRevision the newest revision whose build has succeeded; null before the first
 * @param buildingRevision the newest revision, while its build is pending; or null
 * @param buildFailure build failure of the newest revision; or null
 * @param buildId the newest Build for this agent; null before the first
 */
@Schema(name = "Agent")
public record AgentView(
    String id,
    @Schema(description = "Unique among agents") String name,
    @Schema(description = "Python that defines main(), main(request) or main(request, store)")
        String script,
    @Schema(description = "As they were given, one package a line, name==version; empty: none")
        String requirements,
    @Schema(
            description =
                "As they were given, KEY=VALUE a line; empty: none. Keys that may not write"
                    + " see ******** for each value")
        String envVars,
    @Schema(
            examples = "3.13",
            description = "One of those that GET /v1/runtime lists, or listed when it was chosen")
        String pythonVersion,
    @Schema(description = "DataStores. The first is what main gets as its store; []: none")
        List<String> storeIds,
    @Schema(description = "Seconds that an execution may take, the import included") double timeout,
    @Schema(description = "MiB that an execution may use, with all that it starts") int memory,
    @Schema(description = "Cores; recorded, and not enforced by the local runtime") double cpu,
    @Schema(description = "Executors, and so executions, at the same time") int maxConcurrency,
    @Schema(description = "Attempts at one job") int maxAttempts,
    @Schema(description = "Seconds before the second attempt; doubled each time, with jitter")
        double retryDelay,
    @Schema(
            description =
                "Reasons of Executions after which there is no further attempt, besides those"
                    + " for which it would be pointless")
        List<String> neverRetry,
    @Schema(description = "Seconds that an idle executor is kept") double keepWarm,
    @Schema(
            enumeration = {"process", "pod"},
            description =
                "process: an executor runs many executions, each a fresh process; pod: only one")
        String isolation,
    @Schema(
            nullable = true,
            description =
                "Profile of its pods, as the operator names it; null: the default. Of GET"
                    + " /v1/runtime, or listed when it was chosen")
        String profile,
    @Schema(
            examples = {"all", "none", "192.0.2.7:443\\n[2001:db8::/32]:443"},
            description =
                "What scripts may connect to: all, none, or one IP address or block with its TCP"
                    + " port a line")
        String egress,
    @Schema(
            description =
                "The number of the newest revision, from 1; it grows when script,"
                    + " requirements, env_vars, python_version, profile or egress change")
        int revision,
    @Schema(
            nullable = true,
            description =
                "The newest revision whose build has succeeded: what an execution that is"
                    + " submitted now runs; null: there is none yet, so it waits for the build")
        Integer runningRevision,
    @Schema(
            nullable = true,
            description =
                "The newest revision that is still to be built, and runs then; null: there is none")
        Integer buildingRevision,
    @Schema(
            nullable = true,
            description =
                "Why the newest revision could not be built, so that running_revision still"
                    + " runs; null: it was, or may yet be")
        BuildFailure buildFailure,
    @Schema(
            nullable = true,
            description =
                "The newest Build that was made for this agent, perhaps for an earlier"
                    + " revision; null: there is none yet")
        String buildId,
    @Schema(description = "The BuilderJob whose Build the newest revision runs on")
        String latestBuilderJobId,
    @Schema(
            nullable = true,
            description =
                "How the Build that it runs on differs from the one that would be made now; null: it"
                    + " doesn't, or there is none yet")
        Outdated outdated,
    Instant createdAt,
    Instant updatedAt,
    @JsonInclude(Include.NON_NULL)
        @Schema(description = "Only with include=activity: what goes on with it")
        AgentActivity activity) {

  /**
   * The build of an agent's newest revision failed or was cancelled.
   *
   * @param message for a person
   */
  @Schema(name = "AgentBuildFailure")
  public record BuildFailure(
      @Schema(description = "The newest one") int revision,
      @Schema(description = "Its log says what went wrong") String builderJobId,
      @Schema(
              implementation = BuildReason.class,
              type = SchemaType.STRING,
              description = "Why it was not built",
              examples = "requirement_not_found")
          String reason,
      @Schema(nullable = true, description = "The reason in words") String message) {}

  /**
   * The views of agents, in the same order, with a fixed number of queries.
   *
   * @param withValues whether to include the values of environment variables
   * @param outdated agents with an outdated Build, by agent identifier
   * @param now the time for {@link AgentActivity}; null: without activity
   */
  static List<AgentView> of(
      List<Agent> agents, boolean withValues, Map<String, Outdated> outdated, Instant now) {
    List<String> ids = agents.stream().map(agent -> agent.id).toList();
    Map<String, AgentActivity> activities = now == null ? Map.of() : AgentActivity.of(ids, now);
    Map<String, List<String>> stores = DataStore.idsOfAgents(ids);
    Map<String, Object[]> details = new HashMap<>();
    List<Object[]> rows =
        Agent.getEntityManager()
            .createNativeQuery(
                """
            select a.id, r.script, r.requirements, r.env_vars, r.python_version, r.builder_job_id,
              (select j.build_id from builder_job j where j.agent_id = a.id and j.state = 'succeeded'
               order by j.id desc limit 1),
              (select max(n.revision) from agent_revision n join builder_job j on j.id = n.builder_job_id
               where n.agent_id = a.id and n.revision > coalesce(a.running_revision, 0)
                 and j.state in ('queued', 'running')),
              b.state in ('failed', 'cancelled'), b.reason, b.message,
              r.profile, r.egress
            from agent a join agent_revision r on r.agent_id = a.id and r.revision = a.revision
            join builder_job b on b.id = r.builder_job_id
            where a.id in (:ids)""",
                Object[].class)
            .setParameter("ids", ids)
            .getResultList();
    rows.forEach(row -> details.put((String) row[0], row));
    List<AgentView> views = new ArrayList<>();
    for (Agent agent : agents) {
      List<String> storeIds = stores.getOrDefault(agent.id, List.of());
      AgentActivity activity = activities.get(agent.id);
      Outdated old = outdated.get(agent.id);
      views.add(of(agent, details.get(agent.id), storeIds, withValues, old, activity));
    }
    return views;
  }

  private static AgentView of(
      Agent agent,
      Object[] row,
      List<String> storeIds,
      boolean withValues,
      Outdated outdated,
      AgentActivity activity) {
    String envVars = (String) row[3];
    return new AgentView(
        agent.id,
        agent.name,
        (String) row[1],
        (String) row[2],
        withValues ? envVars : EnvVars.masked(envVars),
        (String) row[4],
        storeIds,
        agent.timeoutSeconds,
        agent.memoryMib,
        agent.cpu,
        agent.maxConcurrency,
        agent.maxAttempts,
        agent.retryDelaySeconds,
        List.of(agent.neverRetry),
        agent.keepWarmSeconds,
        agent.isolation,
        (String) row[11],
        (String) row[12],
        agent.revision,
        agent.runningRevision,
        (Integer) row[7],
        (Boolean) row[8]
            ? new BuildFailure(agent.revision, (String) row[5], (String) row[9], (String) row[10])
            : null,
        (String) row[6],
        (String) row[5],
        outdated,
        agent.createdAt,
        agent.updatedAt,
        activity);
  }
}
