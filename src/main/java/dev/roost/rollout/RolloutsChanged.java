package dev.roost.rollout;

import dev.roost.cluster.Shared;

/** There is a rollout to begin, to go on with or to undo. */
record RolloutsChanged() implements Shared {}
