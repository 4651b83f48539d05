package dev.roost.rollout;

import dev.roost.cluster.Shared;

/** Fired when there is a rollout to start, continue or undo. */
record RolloutsChanged() implements Shared {}
