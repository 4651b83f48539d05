package dev.roost.agent;

import dev.roost.event.Shared;

/**
 * Told after an agent has a new revision, other settings, or was deleted: executors that no longer
 * fit should go.
 *
 * @param revision the current one; 0 when the agent was deleted
 */
public record AgentChanged(String agentId, int revision) implements Shared {}
