package dev.roost.cluster;

/**
 * An event that observers on the other replicas receive, too, with the qualifier {@link
 * FromOtherReplica}. The class is a record in a package of Roost that contains only strings and
 * numbers. The event is fired after its transaction, never within.
 */
public interface Shared {
  /** An event that concerns only the leader; the leader does not forward it. */
  interface WithLeader extends Shared {}
}
