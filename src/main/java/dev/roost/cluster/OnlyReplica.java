package dev.roost.cluster;

/**
 * The only process on its database: it leads always, and there is nobody to tell anything. True of
 * the local runtime, whose data directory has a lock.
 */
public class OnlyReplica implements Replicas {
  @Override
  public boolean isHeld() {
    return true;
  }

  @Override
  public void whenGained(Runnable action) {
    // It is held already.
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
