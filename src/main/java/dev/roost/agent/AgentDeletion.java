package dev.roost.agent;

import java.time.Instant;

/** Told inside the transaction that deletes an agent, to everything that must end with it. */
public record AgentDeletion(String agentId, Instant now) {}
