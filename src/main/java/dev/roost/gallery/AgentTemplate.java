package dev.roost.gallery;

import dev.roost.api.JsonText;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A complete agent that a new one can begin with. */
@Schema(name = "AgentTemplate")
public record AgentTemplate(
    @Schema(description = "Its identifier", examples = "page-monitor") String name,
    @Schema(description = "For people") String title,
    @Schema(description = "What it does, in a sentence") String summary,
    @Schema(description = "How it works, and what it keeps") String description,
    @Schema(description = "What it is about", examples = "[\"monitoring\", \"web\"]")
        List<String> tags,
    @Schema(description = "As of an agent") String script,
    @Schema(description = "As of an agent: one pinned requirement per line") String requirements,
    @Schema(description = "The environment variables that it reads") List<Variable> variables,
    @Schema(description = "Whether it keeps data in a DataStore") boolean usesStore,
    @Schema(ref = "JsonText", description = "A payload to try it with; null for none")
        JsonText payload,
    @Schema(nullable = true, description = "When to run it; null: on demand") Schedule schedule) {

  /** An environment variable. */
  @Schema(name = "AgentTemplateVariable")
  public record Variable(
      @Schema(description = "The variable's name") String name,
      @Schema(description = "What it is for") String description,
      @Schema(description = "Whether it fails without the variable") boolean required,
      @Schema(description = "What a value looks like") String example) {}

  /** A suggestion. */
  @Schema(name = "AgentTemplateSchedule")
  public record Schedule(
      @Schema(description = "As of a schedule", examples = "0 7 * * *") String cron,
      @Schema(description = "The same in words") String reason) {}
}
