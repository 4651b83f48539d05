package dev.roost.cluster;

/**
 * The control planes that work on one database, of which this process is one. On the local runtime
 * there is one only, {@link OnlyReplica}; else they find each other in the database, {@link
 * DatabaseReplicas}.
 *
 * <p>What is told is a hint: it may get lost or come late, so whoever waits for one also looks by
 * itself now and then. Telling never blocks and never fails.
 */
public interface Replicas extends Leadership {
  /** Tells the other replicas that something about a resource has changed. */
  void tellTopic(String topic);

  /** Tells the other replicas of an event. Call it after the transaction that made it true. */
  void tellEvent(Shared event);

  /** Begins to lead or to follow, and to hear what others tell. */
  void start(Listener listener);

  /** Tells what is still to be told and lets another replica lead at once. */
  void stop();

  /** Hears what other replicas tell; on one thread, which it must not block. */
  interface Listener {
    void topic(String topic);

    void event(Shared event);

    /** Hints may have got lost, so everything may have changed. */
    void anything();
  }
}
