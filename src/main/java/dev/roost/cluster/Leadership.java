package dev.roost.cluster;

/**
 * Whether this process is the leader, which does the work that only one replica may do at a time.
 */
public interface Leadership {
  /** The leadership of a single process. */
  Leadership ALWAYS =
      new Leadership() {
        @Override
        public boolean isHeld() {
          return true;
        }

        @Override
        public void whenGained(Runnable action) {
          // The only process always leads.
        }
      };

  /** Cheap, and called often. */
  boolean isHeld();

  /**
   * @param action runs whenever this process becomes the leader; must not block
   */
  void whenGained(Runnable action);
}
