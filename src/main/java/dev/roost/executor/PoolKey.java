package dev.roost.executor;

/**
 * What the executors of a pool have in common: everything that is fixed when an executor starts.
 *
 * @param profile null: the default
 * @param egress in the form of {@code AgentRevision.egress}
 */
record PoolKey(String buildId, int memoryMib, double cpu, String profile, String egress) {}
