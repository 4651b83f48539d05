package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.datastore.DataStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * An agent, as the API shows it.
 *
 * @param envVars with the values hidden from keys that may not write agents
 * @param timeout seconds
 * @param memory MiB
 * @param cpu cores
 * @param retryDelay seconds
 * @param neverRetry reasons after which there is no further attempt
 * @param keepWarm seconds
 * @param activity null: it was not asked for
 * @param buildId the newest Build that was made for this agent; null before the first
 */
@Schema(name = "Agent")
public record AgentView(
    String id,
    String name,
    String script,
    String requirements,
    String envVars,
    String pythonVersion,
    List<String> storeIds,
    double timeout,
    int memory,
    double cpu,
    int maxConcurrency,
    int maxAttempts,
    double retryDelay,
    List<String> neverRetry,
    double keepWarm,
    String isolation,
    int revision,
    String buildId,
    String latestBuilderJobId,
    Instant createdAt,
    Instant updatedAt,
    @JsonInclude(Include.NON_NULL)
        @Schema(description = "What goes on with it; only with include=activity")
        AgentActivity activity) {

  /**
   * The views of agents, in their order, by the same few queries for all.
   *
   * @param withValues of environment variables
   * @param now for what goes on with them; null: without that
   */
  static List<AgentView> of(List<Agent> agents, boolean withValues, Instant now) {
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
               order by j.id desc limit 1)
            from agent a join agent_revision r on r.agent_id = a.id and r.revision = a.revision
            where a.id in (:ids)""",
                Object[].class)
            .setParameter("ids", ids)
            .getResultList();
    rows.forEach(row -> details.put((String) row[0], row));
    List<AgentView> views = new ArrayList<>();
    for (Agent agent : agents) {
      List<String> storeIds = stores.getOrDefault(agent.id, List.of());
      AgentActivity activity = activities.get(agent.id);
      views.add(of(agent, details.get(agent.id), storeIds, withValues, activity));
    }
    return views;
  }

  private static AgentView of(
      Agent agent,
      Object[] row,
      List<String> storeIds,
      boolean withValues,
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
        agent.revision,
        (String) row[6],
        (String) row[5],
        agent.createdAt,
        agent.updatedAt,
        activity);
  }
}
