package dev.roost.builds;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Why a BuilderJob did not succeed. */
public enum BuildReason {
  REQUIREMENT_NOT_FOUND(
      "The package index does not have this package or version. Check the spelling and the "
          + "version."),
  REQUIREMENTS_CONFLICT("The requirements conflict. The message names the conflicting packages."),
  BUILD_FROM_SOURCE_FAILED(
      "A package has no wheel for this Python and platform, and building it from source failed."),
  INDEX_UNREACHABLE(
      "The package index did not respond. Save the agent's requirements again later, without "
          + "changes."),
  REGISTRY_UNREACHABLE("The image registry did not respond."),
  PYTHON_VERSION_UNAVAILABLE("The runtime no longer offers this Python version."),
  DEADLINE_EXCEEDED("The build took longer than the limit (setting roost.builds.timeout)."),
  OUT_OF_MEMORY("The build exceeded its memory limit."),
  OUT_OF_DISK("The disk had no space left for the dependencies."),
  SUPERSEDED("A later change of the agent superseded this build."),
  AGENT_DELETED("The agent was deleted."),
  RUNTIME_UNAVAILABLE("The runtime could not start the build."),
  LOST("The build ended without a result. See its log.");

  private final String explanation;

  BuildReason(String explanation) {
    this.explanation = explanation;
  }

  /** The meaning and the fix, for the documentation. */
  public String explanation() {
    return explanation;
  }

  @JsonValue
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }
}
