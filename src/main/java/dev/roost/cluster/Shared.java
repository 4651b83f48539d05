package dev.roost.cluster;

/**
 * An event that the observers on the other replicas get too, there with the qualifier {@link
 * FromOtherReplica}. Its class is a record in a package of Roost that holds nothing but strings and
 * numbers, and it is fired after its transaction, never within.
 */
public interface Shared {
  /** One that concerns the leader alone: a leader keeps it to itself. */
  interface WithLeader extends Shared {}
}
