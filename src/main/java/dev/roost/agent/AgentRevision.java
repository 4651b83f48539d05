package dev.roost.agent;

import dev.roost.api.ErrorCode;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Conditions;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import java.io.Serializable;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/**
 * One version of an agent's code and environment: script, bundle, requirements, variables, Python
 * version, profile, egress, preloading and schemas.
 */
@Entity(name = "agent_revision")
@IdClass(AgentRevision.Key.class)
public class AgentRevision extends PanacheEntityBase {
  /** The size of the texts of a revision {@code r}, for pages of limited size. */
  static final String BYTES =
      """
      octet_length(r.script) + octet_length(r.requirements) + octet_length(r.env_vars)
        + coalesce(octet_length(r.input_schema), 0) + coalesce(octet_length(r.output_schema), 0)
        + coalesce(octet_length(r.hinted_input_schema), 0) + coalesce(octet_length(r.hinted_output_schema), 0)""";

  @Id public String agentId;
  @Id public int revision;
  public String script;

  /** The bundle with the files of the project; null: the script is all of the code. */
  public String bundleId;

  /** Where the script is in the bundle; null without one. */
  public String scriptPath;

  public String requirements;
  public String envVars;
  public String pythonVersion;

  /** The pod profile, by the operator's name; null: the default. */
  public String profile;

  /** In the format of {@link dev.roost.runtime.Egress#text}. */
  public String egress = "all";

  @Enumerated(EnumType.STRING)
  public Preload preload = Preload.AUTO;

  /** A JSON Schema that payloads match, as text; null: any payload. */
  public String inputSchema;

  /** A JSON Schema of what main returns, as text; null: anything. */
  public String outputSchema;

  /** The schema of the type hint of main's payload; null: it has none, or isn't known yet. */
  public String hintedInputSchema;

  /** The schema of the type hint of main's return value; null: as above. */
  public String hintedOutputSchema;

  /** Whether an executor has read the type hints. */
  public boolean hintsKnown;

  /**
   * The BuilderJob whose Build this revision runs on. A revision without a new build shares the
   * BuilderJob of the previous revision.
   */
  public String builderJobId;

  public Instant createdAt;

  /** The primary key. */
  public record Key(String agentId, int revision) implements Serializable {}

  public static AgentRevision of(String agentId, int revision) {
    return findById(new Key(agentId, revision));
  }

  /**
   * @throws Problem not_found
   */
  static AgentRevision require(String agentId, int revision) {
    return AgentRevision.<AgentRevision>findByIdOptional(new Key(agentId, revision))
        .orElseThrow(
            () ->
                Problem.of(
                    ErrorCode.NOT_FOUND,
                    "Agent %s has no revision %d.".formatted(Text.quote(agentId), revision)));
  }

  /**
   * Numbers and sizes for a page, newest first.
   *
   * @param before only revisions before this one; null: all
   */
  static List<Page.Sized> sizes(String agentId, Long before, int limit) {
    Conditions conditions =
        new Conditions()
            .and("agent_id = :agent", "agent", agentId)
            .and("revision < :before", "before", before);
    String select =
        """
        select cast(revision as text) as id, %s as bytes
        from agent_revision r where %s order by revision desc limit :most
        """;
    return conditions
        .bind(select.formatted(BYTES, conditions.text()))
        .with("most", limit + 1)
        .list(getEntityManager(), Page.Sized::of);
  }

  /**
   * Switches the revisions on one BuilderJob's Build to another BuilderJob's Build. The caller has
   * locked the agent.
   *
   * @return the number of changed revisions
   */
  public static int useBuild(String agentId, String from, String to) {
    return update("builderJobId = ?1 where agentId = ?2 and builderJobId = ?3", to, agentId, from);
  }

  /** The schema that payloads must match: the given one, or that of the type hints; or null. */
  String effectiveInputSchema() {
    return inputSchema == null ? hintedInputSchema : inputSchema;
  }

  /** The schema of return values, likewise. */
  String effectiveOutputSchema() {
    return outputSchema == null ? hintedOutputSchema : outputSchema;
  }

  /** Takes what is known of the type hints of an earlier revision with the same code. */
  void takeHintsOf(AgentRevision earlier) {
    if (hasTheCodeOf(earlier)) {
      hintedInputSchema = earlier.hintedInputSchema;
      hintedOutputSchema = earlier.hintedOutputSchema;
      hintsKnown = earlier.hintsKnown;
    }
  }

  private boolean hasTheCodeOf(AgentRevision other) {
    return script.equals(other.script)
        && Objects.equals(bundleId, other.bundleId)
        && Objects.equals(scriptPath, other.scriptPath)
        && requirements.equals(other.requirements)
        && pythonVersion.equals(other.pythonVersion);
  }

  boolean runsTheSameAs(AgentRevision other) {
    return hasTheCodeOf(other)
        && envVars.equals(other.envVars)
        && Objects.equals(profile, other.profile)
        && egress.equals(other.egress)
        && preload == other.preload
        && Objects.equals(inputSchema, other.inputSchema)
        && Objects.equals(outputSchema, other.outputSchema);
  }
}
