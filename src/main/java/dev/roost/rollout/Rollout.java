package dev.roost.rollout;

import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * Builds agents' dependencies again, a few at a time, and switches each agent to its new Build when
 * that has succeeded; as the API shows it.
 */
@Schema(name = "Rollout")
record Rollout(
    String id,
    @Schema(
            enumeration = {"running", "paused", "completed", "undone"},
            description =
                "paused: nothing is built or changed until it is resumed; undone: its agents use"
                    + " the Builds of before")
        String state,
    @Schema(
            description =
                "Whether Roost began it, since a base or the SDK is newer than what agents run on")
        boolean automatic,
    @Schema(nullable = true, description = "Why Roost has paused it; null: it did not")
        String message,
    @Schema(description = "Agents by what has become of them") Counts agents,
    Instant createdAt,
    @Schema(nullable = true, description = "When it was completed or undone; null: it is open")
        Instant finishedAt) {

  static final List<String> STATES = List.of("running", "paused", "completed", "undone");

  /** How many agents are in which state. */
  @Schema(name = "RolloutCounts")
  record Counts(
      @Schema(description = "All of them") int total,
      @Schema(description = "Wait for their turn") int queued,
      @Schema(description = "Are being built") int building,
      @Schema(description = "Use their new Build") int updated,
      @Schema(description = "Could not be built, and use the Build of before") int failed,
      @Schema(description = "Were deployed or deleted meanwhile, or had nothing newer to get")
          int skipped,
      @Schema(description = "Use the Build of before again") int undone) {}

  /** One agent of a rollout. */
  @Schema(name = "RolloutAgent")
  record Item(
      String agentId,
      @Schema(description = "As it is now") String agentName,
      @Schema(
              enumeration = {"queued", "building", "updated", "failed", "skipped", "undone"},
              description = "What has become of it")
          String state,
      @Schema(description = "What it ran on when the rollout began") String fromBuilderJobId,
      @Schema(nullable = true, description = "The new one; null: none was made")
          String toBuilderJobId,
      @Schema(nullable = true, description = "Why it failed or was skipped") String message,
      Instant updatedAt) {
    static final List<String> STATES =
        List.of("queued", "building", "updated", "failed", "skipped", "undone");
  }
}
