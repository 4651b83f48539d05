package dev.roost.cluster;

/**
 * The control planes on one database, including this process. The local runtime has a single
 * replica, {@link OnlyReplica}; otherwise replicas find each other in the database, {@link
 * DatabaseReplicas}.
 *
 * <p>Notifications may be lost or late, so each receiver also polls. Sending never blocks and never
 * fails.
 */
public interface Replicas extends Leadership {
  /** Notifies the other replicas of a change of a resource. */
  void tellTopic(String topic);

  /** Sends an event to the other replicas. Call after the commit of the transaction. */
  void tellEvent(Shared event);

  /** Starts to lead or follow, and to receive notifications. */
  void start(Listener listener);

  /** Sends the remaining notifications and resigns, so that another replica leads at once. */
  void stop();

  /** Receives notifications of other replicas; on one thread, which must not block. */
  interface Listener {
    void topic(String topic);

    void event(Shared event);

    /** Notifications may have been lost, so anything may have changed. */
    void anything();
  }
}
