package dev.roost.agent;

import dev.roost.api.JsonText;
import dev.roost.builds.BuilderJob;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A revision of an agent in API responses.
 *
 * @param envVars values are hidden from keys without the permission to write agents
 * @param builderJobId the BuilderJob for this revision's requirements
 * @param buildId the Build of that BuilderJob; null: no Build, or not yet
 */
@Schema(name = "AgentRevision")
public record AgentRevisionView(
    @Schema(examples = "agent_01jd4m8z6hf0r9w2x3c5v7b8na") String agentId,
    @Schema(examples = "3", description = "The number of the revision, from 1") int revision,
    @Schema(description = "The Python script of this revision") String script,
    @Schema(
            nullable = true,
            description =
                "The bundle with the files of its project; null: the script is all of its code")
        String bundleId,
    @Schema(
            nullable = true,
            examples = "src/main.py",
            description = "The path of the script in the bundle; null without a bundle")
        String scriptPath,
    @Schema(
            examples = "Jinja2==3.1.4",
            description = "As submitted, one package per line, name==version; empty for none")
        String requirements,
    @Schema(
            description =
                "As they were given, KEY=VALUE a line; empty: none. Keys that may not write"
                    + " see ******** for each value")
        String envVars,
    @Schema(
            examples = "3.13",
            description = "Python minor version; this Roost may no longer offer it")
        String pythonVersion,
    @Schema(nullable = true, description = "The profile of its pods; null for the default")
        String profile,
    @Schema(examples = "all", description = "What scripts may connect to; see Agent") String egress,
    @Schema(description = "Whether executors import modules in advance; see Agent") Preload preload,
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
            description =
                "The BuilderJob that installed its requirements; a revision that required no build shares "
                    + "the one of the previous revision")
        String builderJobId,
    @Schema(nullable = true, description = "null if its build has not succeeded") String buildId,
    Instant createdAt) {

  /** Views in the same order as the revisions. */
  static List<AgentRevisionView> of(List<AgentRevision> revisions, boolean withValues) {
    Map<String, String> builds = new HashMap<>();
    BuilderJob.<BuilderJob>list(
            "id in ?1", revisions.stream().map(revision -> revision.builderJobId).toList())
        .forEach(job -> builds.put(job.id, job.buildId));
    return revisions.stream()
        .map(revision -> of(revision, builds.get(revision.builderJobId), withValues))
        .toList();
  }

  private static AgentRevisionView of(AgentRevision revision, String buildId, boolean withValues) {
    return new AgentRevisionView(
        revision.agentId,
        revision.revision,
        revision.script,
        revision.bundleId,
        revision.scriptPath,
        revision.requirements,
        withValues ? revision.envVars : EnvVars.masked(revision.envVars),
        revision.pythonVersion,
        revision.profile,
        revision.egress,
        revision.preload,
        JsonText.ofNullable(revision.inputSchema),
        JsonText.ofNullable(revision.outputSchema),
        JsonText.ofNullable(revision.hintedInputSchema),
        JsonText.ofNullable(revision.hintedOutputSchema),
        revision.builderJobId,
        buildId,
        revision.createdAt);
  }
}
