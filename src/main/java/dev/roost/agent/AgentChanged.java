package dev.roost.agent;

import dev.roost.cluster.Shared;

/**
 * Fired after an agent's running revision or settings have changed, or the agent was deleted:
 * executors that no longer match should stop.
 *
 * @param revision the running revision; 0 when the agent was deleted
 */
public record AgentChanged(String agentId, int revision) implements Shared {}
