package dev.roost.cluster;

/**
 * The only process on its database: always the leader, with no other replicas to notify. Used by
 * the local runtime, whose data directory has a lock.
 */
public class OnlyReplica implements Replicas {
  @Override
  public boolean isHeld() {
    return true;
  }

  @Override
  public void whenGained(Runnable action) {
    // The only process always leads.
  }

  @Override
  public void tellTopic(String topic) {}

  @Override
  public void tellEvent(Shared event) {}

  @Override
  public void start(Listener listener) {}

  @Override
  public void stop() {}
}
