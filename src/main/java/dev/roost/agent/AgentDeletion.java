package dev.roost.agent;

import java.time.Instant;

/** Fired inside the transaction that deletes an agent, for everything that ends with the agent. */
public record AgentDeletion(String agentId, Instant now) {}
