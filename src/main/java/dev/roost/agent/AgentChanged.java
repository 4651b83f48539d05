package dev.roost.agent;

import dev.roost.cluster.Shared;

/**
 * Told after an agent runs another revision, has other settings, or was deleted: executors that no
 * longer fit should go.
 *
 * @param revision the one that runs; 0 when the agent was deleted
 */
public record AgentChanged(String agentId, int revision) implements Shared {}
