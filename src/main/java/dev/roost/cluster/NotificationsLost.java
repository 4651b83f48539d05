package dev.roost.cluster;

/** Told when hints of other replicas may have got lost: what this replica remembers may be old. */
public record NotificationsLost() {}
