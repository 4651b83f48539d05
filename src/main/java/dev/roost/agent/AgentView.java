package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.api.JsonText;
import dev.roost.builds.BuildReason;
import dev.roost.builds.Outdated;
import dev.roost.datastore.DataStore;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
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
 * @param preloaded what executors import in advance; null: unknown, off, or not read
 */
@Schema(name = "Agent")
public record AgentView(
    String id,
    @Schema(description = "Unique among agents") String name,
    @Schema(description = "Python that defines main(), main(request) or main(request, store)")
        String script,
    @Schema(
            nullable = true,
            description =
                "The bundle with the files of its project, of which the script is one; null: the script is "
                    + "all of its code")
        String bundleId,
    @Schema(
            nullable = true,
            examples = "src/main.py",
            description = "The path of the script in the bundle; null without a bundle")
        String scriptPath,
    @Schema(description = "As submitted, one package per line, name==version; empty for none")
        String requirements,
    @Schema(
            description =
                "As they were given, KEY=VALUE a line; empty: none. Keys that may not write"
                    + " see ******** for each value")
        String envVars,
    @Schema(
            examples = "3.13",
            description =
                "One of the versions that GET /v1/runtime lists, or listed when it was chosen")
        String pythonVersion,
    @Schema(
            description =
                "The agent's DataStores; main receives the first as its store. [] for none")
        List<String> storeIds,
    @Schema(description = "The execution timeout in seconds, including the import of the script")
        double timeout,
    @Schema(
            description =
                "The memory limit of a script's process in MiB, including child processes")
        int memory,
    @Schema(description = "CPU cores. The local runtime does not enforce this limit") double cpu,
    @Schema(
            description =
                "The number of executions, and so of executors, that may run at the same time")
        int maxConcurrency,
    @Schema(
            description =
                "How long a job has its concurrency_key: while it has an execution, or from its first "
                    + "execution until the job ends")
        KeyScope concurrencyKeyScope,
    @Schema(description = "The number of attempts for each job") int maxAttempts,
    @Schema(
            description =
                "The delay before the second attempt in seconds. It doubles with each attempt, with "
                    + "jitter")
        double retryDelay,
    @Schema(
            description =
                "Reasons that are not retried, in addition to reasons for which a retry cannot help")
        List<String> neverRetry,
    @Schema(description = "How long an idle executor is kept, in seconds") double keepWarm,
    @Schema(
            enumeration = {"process", "pod"},
            description =
                "process: an executor runs many executions, each in a new process. pod: an executor runs "
                    + "one execution")
        String isolation,
    @Schema(
            description =
                "How many executions run in one process at the same time; 1: each in its own")
        int requestsPerProcess,
    @Schema(
            nullable = true,
            description =
                "The profile of its pods; null for the default. One of the profiles that GET /v1/runtime "
                    + "lists, or listed when it was chosen")
        String profile,
    @Schema(
            examples = {"all", "none", "192.0.2.7:443\\n[2001:db8::/32]:443"},
            description =
                "What scripts may connect to: all, none, or a list with one IP address or CIDR block and "
                    + "TCP port per line")
        String egress,
    @Schema(
            description =
                "auto: an executor imports the modules that the script imports once, and executions "
                    + "start with them. off: each execution imports them")
        Preload preload,
    @Schema(
            ref = "JsonText",
            nullable = true,
            description = "The JSON Schema that payloads must match; null: any payload")
        JsonText inputSchema,
    @Schema(
            ref = "JsonText",
            nullable = true,
            description = "The JSON Schema of what main returns; null: not described")
        JsonText outputSchema,
    @Schema(
            ref = "JsonText",
            nullable = true,
            description =
                "The JSON Schema of the type hint of main's payload, which applies if input_schema is null; "
                    + "null: no such hint, or no execution of the revision has called main yet")
        JsonText hintedInputSchema,
    @Schema(
            ref = "JsonText",
            nullable = true,
            description =
                "The JSON Schema of the type hint of what main returns, which applies if output_schema is null; "
                    + "null: as for hinted_input_schema")
        JsonText hintedOutputSchema,
    @Schema(
            description = "Labels to find agents by, sorted; [] for none. / separates levels",
            examples = "[\"billing\", \"team/crawlers\"]")
        List<String> tags,
    @Schema(
            nullable = true,
            examples = "weather_forecast",
            description =
                "The name under which language models are offered the agent as a tool, through the Model "
                    + "Context Protocol; null: the agent is not a tool")
        String toolName,
    @Schema(
            nullable = true,
            description =
                "What the tool does, for the language model that chooses among tools; null: not "
                    + "described")
        String toolDescription,
    @Schema(
            description =
                "The number of the newest revision, from 1. A change of script, bundle_id, script_path, requirements, env_vars, "
                    + "python_version, profile, egress, preload, input_schema or output_schema creates a new revision")
        int revision,
    @Schema(
            nullable = true,
            description =
                "The newest revision whose build has succeeded; new executions run it. null if no build "
                    + "has succeeded yet, so that executions wait for the build")
        Integer runningRevision,
    @Schema(
            nullable = true,
            description =
                "The newest revision whose build has not ended, and which will run after it; null if "
                    + "there is none")
        Integer buildingRevision,
    @Schema(
            nullable = true,
            description =
                "Why the build of the newest revision failed, so that running_revision still runs; null "
                    + "if it did not fail")
        BuildFailure buildFailure,
    @Schema(
            nullable = true,
            description =
                "The newest Build of this agent, possibly for an earlier revision; null if there is none")
        String buildId,
    @Schema(description = "The BuilderJob of the newest revision") String latestBuilderJobId,
    @Schema(
            nullable = true,
            description =
                "How the agent's Build differs from one created now; null if it does not differ, or if "
                    + "there is none")
        Outdated outdated,
    @Schema(
            nullable = true,
            description =
                "What executors of the revision that runs import in advance; null before an executor has "
                    + "reported it, if preload is off, and in lists of agents")
        PreloadedView preloaded,
    Instant createdAt,
    Instant updatedAt,
    @JsonInclude(Include.NON_NULL)
        @Schema(description = "Only with include=activity: builds, executions and scheduled runs")
        AgentActivity activity) {

  /**
   * The build of an agent's newest revision failed or was cancelled.
   *
   * @param message for a person
   */
  @Schema(name = "AgentBuildFailure")
  public record BuildFailure(
      @Schema(description = "The newest revision") int revision,
      @Schema(description = "The BuilderJob; its log explains the failure") String builderJobId,
      @Schema(
              implementation = BuildReason.class,
              type = SchemaType.STRING,
              description = "Why the build failed",
              examples = "requirement_not_found")
          String reason,
      @Schema(nullable = true, description = "The reason as a message") String message) {}

  private static final Sql DETAILS =
      Sql.of(
          """
          select a.id, r.script, r.bundle_id, r.script_path, r.requirements, r.env_vars, r.python_version, r.builder_job_id,
            (select j.build_id from builder_job j where j.agent_id = a.id and j.state = 'succeeded'
             order by j.id desc limit 1) as build_id,
            (select max(n.revision) from agent_revision n join builder_job j on j.id = n.builder_job_id
             where n.agent_id = a.id and n.revision > coalesce(a.running_revision, 0)
               and j.state in ('queued', 'running')) as building_revision,
            b.state in ('failed', 'cancelled') as build_failed, b.reason, b.message, r.profile, r.egress,
            r.preload, r.input_schema, r.output_schema,
            r.hinted_input_schema, r.hinted_output_schema, array(select t.tag from agent_tag t where t.agent_id = a.id order by t.tag) as tags
          from agent a join agent_revision r on r.agent_id = a.id and r.revision = a.revision
          join builder_job b on b.id = r.builder_job_id
          where a.id = any(:ids)
          """);

  /** Of the newest revision and its build. */
  private record Details(
      String script,
      String bundleId,
      String scriptPath,
      String requirements,
      String envVars,
      String pythonVersion,
      String builderJobId,
      String buildId,
      Integer buildingRevision,
      boolean buildFailed,
      String buildReason,
      String buildMessage,
      String profile,
      String egress,
      Preload preload,
      JsonText inputSchema,
      JsonText outputSchema,
      JsonText hintedInputSchema,
      JsonText hintedOutputSchema,
      List<String> tags) {
    static Details of(ResultSet row) throws SQLException {
      return new Details(
          row.getString("script"),
          row.getString("bundle_id"),
          row.getString("script_path"),
          row.getString("requirements"),
          row.getString("env_vars"),
          row.getString("python_version"),
          row.getString("builder_job_id"),
          row.getString("build_id"),
          row.getObject("building_revision", Integer.class),
          row.getBoolean("build_failed"),
          row.getString("reason"),
          row.getString("message"),
          row.getString("profile"),
          row.getString("egress"),
          Code.parse(Preload.class, row.getString("preload")),
          JsonText.ofNullable(row.getString("input_schema")),
          JsonText.ofNullable(row.getString("output_schema")),
          JsonText.ofNullable(row.getString("hinted_input_schema")),
          JsonText.ofNullable(row.getString("hinted_output_schema")),
          List.of((String[]) row.getArray("tags").getArray()));
    }
  }

  /**
   * The views of agents, in the same order, with a fixed number of queries.
   *
   * @param withValues whether to include the values of environment variables
   * @param outdated agents with an outdated Build, by agent identifier
   * @param preloaded what executors import in advance, by agent identifier; null in the views of
   *     all other agents
   * @param now the time for {@link AgentActivity}; null: without activity
   */
  static List<AgentView> of(
      List<Agent> agents,
      boolean withValues,
      Map<String, Outdated> outdated,
      Map<String, PreloadedView> preloaded,
      Instant now) {
    List<String> ids = agents.stream().map(agent -> agent.id).toList();
    Map<String, AgentActivity> activities = now == null ? Map.of() : AgentActivity.of(ids, now);
    Map<String, List<String>> stores = DataStore.idsOfAgents(ids);
    Map<String, Details> details = new HashMap<>();
    if (Agent.getEntityManager().isJoinedToTransaction()) {
      Agent.flush();
    }
    DETAILS
        .with("ids", ids.toArray(String[]::new))
        .list(Agent.getEntityManager(), row -> details.put(row.getString("id"), Details.of(row)));
    List<AgentView> views = new ArrayList<>();
    for (Agent agent : agents) {
      List<String> storeIds = stores.getOrDefault(agent.id, List.of());
      AgentActivity activity = activities.get(agent.id);
      Outdated old = outdated.get(agent.id);
      PreloadedView imports = preloaded.get(agent.id);
      views.add(of(agent, details.get(agent.id), storeIds, withValues, old, imports, activity));
    }
    return views;
  }

  private static AgentView of(
      Agent agent,
      Details details,
      List<String> storeIds,
      boolean withValues,
      Outdated outdated,
      PreloadedView preloaded,
      AgentActivity activity) {
    return new AgentView(
        agent.id,
        agent.name,
        details.script(),
        details.bundleId(),
        details.scriptPath(),
        details.requirements(),
        withValues ? details.envVars() : EnvVars.masked(details.envVars()),
        details.pythonVersion(),
        storeIds,
        agent.timeoutSeconds,
        agent.memoryMib,
        agent.cpu,
        agent.maxConcurrency,
        agent.concurrencyKeyScope,
        agent.maxAttempts,
        agent.retryDelaySeconds,
        List.of(agent.neverRetry),
        agent.keepWarmSeconds,
        agent.isolation,
        agent.requestsPerProcess,
        details.profile(),
        details.egress(),
        details.preload(),
        details.inputSchema(),
        details.outputSchema(),
        details.hintedInputSchema(),
        details.hintedOutputSchema(),
        details.tags(),
        agent.toolName,
        agent.toolDescription,
        agent.revision,
        agent.runningRevision,
        details.buildingRevision(),
        details.buildFailed()
            ? new BuildFailure(
                agent.revision,
                details.builderJobId(),
                details.buildReason(),
                details.buildMessage())
            : null,
        details.buildId(),
        details.builderJobId(),
        outdated,
        preloaded,
        agent.createdAt,
        agent.updatedAt,
        activity);
  }
}
