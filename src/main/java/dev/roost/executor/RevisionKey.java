package dev.roost.executor;

/** What an executor runs and a job needs. */
record RevisionKey(String agentId, int agentRevision) {}
