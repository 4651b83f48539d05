package dev.roost.cluster;

/**
 * Fired when notifications of other replicas may have been lost: caches of this replica may be
 * stale.
 */
public record NotificationsLost() {}
