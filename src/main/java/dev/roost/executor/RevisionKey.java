package dev.roost.executor;

/** The agent revision that an executor runs and a job needs. */
record RevisionKey(String agentId, int agentRevision) {}
