package dev.roost.builds;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Why a BuilderJob did not succeed. */
public enum BuildReason {
  REQUIREMENT_NOT_FOUND(
      "The package index has no such package or version. Check the spelling and the version."),
  REQUIREMENTS_CONFLICT(
      "The requirements can't be installed together. The message says which exclude each other."),
  BUILD_FROM_SOURCE_FAILED(
      "A package has no wheel for this Python and platform, and building it from source failed."),
  INDEX_UNREACHABLE(
      "The package index did not answer. Change nothing and save the agent's requirements again later."),
  REGISTRY_UNREACHABLE("The image registry did not answer."),
  PYTHON_VERSION_UNAVAILABLE("The runtime does not offer this Python version any more."),
  DEADLINE_EXCEEDED("The build took longer than the limit (setting roost.builds.timeout)."),
  OUT_OF_MEMORY("The build needed more memory than it may use."),
  OUT_OF_DISK("There was no space left for the dependencies."),
  SUPERSEDED("A later change of the agent made this build pointless."),
  AGENT_DELETED("The agent was deleted."),
  RUNTIME_UNAVAILABLE("The runtime could not be asked to build."),
  LOST("The build ended without a result; its log tells how far it came.");

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
