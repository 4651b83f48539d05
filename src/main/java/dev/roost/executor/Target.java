package dev.roost.executor;

/** What an executor runs and a job needs. */
record Target(String agentId, int agentRevision) {}
