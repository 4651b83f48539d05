package dev.roost.cluster;

/** Whether this process does what only one of all replicas does at a time. */
public interface Leadership {
  /** Of a process that is the only one. */
  Leadership ALWAYS =
      new Leadership() {
        @Override
        public boolean isHeld() {
          return true;
        }

        @Override
        public void whenGained(Runnable action) {
          // It is held already.
        }
      };

  /** Cheap, and asked often. */
  boolean isHeld();

  /**
   * @param action runs whenever this process has become the leader; must not block
   */
  void whenGained(Runnable action);
}
