package dev.roost.rollout;

import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * Builds agents' dependencies again, a few at a time, and switches each agent to its new Build when
 * that has succeeded; as the API shows it.
 */
@Schema(name = "Rollout")
record Rollout(
    String id,
    @Schema(
            description =
                "paused: nothing is built or changed until the rollout is resumed. undone: its agents use "
                    + "their previous Builds")
        RolloutState state,
    @Schema(
            description =
                "Whether Roost started it because the base or the SDK is newer than that of agents")
        boolean automatic,
    @Schema(nullable = true, description = "Why Roost paused it; null if Roost did not")
        String message,
    @Schema(description = "The number of agents in each state") Counts agents,
    Instant createdAt,
    @Schema(nullable = true, description = "When it was completed or undone; null while it is open")
        Instant finishedAt) {

  /** How many agents are in which state. */
  @Schema(name = "RolloutCounts")
  record Counts(
      @Schema(description = "All agents of the rollout") int total,
      @Schema(description = "Agents that are waiting") int queued,
      @Schema(description = "Agents whose build is running") int building,
      @Schema(description = "Agents that use the new Build") int updated,
      @Schema(description = "Agents whose build failed, and which use the previous Build")
          int failed,
      @Schema(
              description =
                  "Agents that were updated or deleted during the rollout, or were not outdated")
          int skipped,
      @Schema(description = "Agents that use the previous Build again") int undone) {}

  /** One agent of a rollout. */
  @Schema(name = "RolloutAgent")
  record Item(
      String agentId,
      @Schema(description = "The agent's current name") String agentName,
      @Schema(description = "The state of the agent in the rollout") RolloutAgentState state,
      @Schema(description = "The agent's Build when the rollout began") String fromBuilderJobId,
      @Schema(nullable = true, description = "The new Build; null if none was created")
          String toBuilderJobId,
      @Schema(nullable = true, description = "Why it failed or was skipped") String message,
      Instant updatedAt) {}
}
