package dev.roost.cluster;

/**
 * Whether this process is the leader, which does the work that only one replica may do at a time.
 */
public interface Leadership {
  /** Cheap, and called often. */
  boolean isHeld();

  /**
   * @param action runs whenever this process becomes the leader; must not block
   */
  void whenGained(Runnable action);
}
