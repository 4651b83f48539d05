package dev.roost.cluster;

import dev.roost.api.Authentication;
import dev.roost.api.KeyDeleted;
import dev.roost.api.SessionEnded;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.EventMetadata;
import jakarta.interceptor.Interceptor;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import org.jboss.logging.Logger;

/** Forwards events of this process to the other replicas, and their events to local observers. */
@ApplicationScoped
class ReplicaEvents implements Replicas.Listener {
  private static final Logger LOG = Logger.getLogger(ReplicaEvents.class);

  private final Replicas replicas;
  private final Signals signals;
  private final Authentication authentication;
  private final OpenStreams streams;
  private final Event<Object> events;
  private final ExecutorService workers;

  /**
   * Received events that observers have not received yet. A duplicate adds nothing, so the set
   * limits the queue.
   */
  private final Set<Object> pending = ConcurrentHashMap.newKeySet();

  ReplicaEvents(
      Replicas replicas,
      Signals signals,
      Authentication authentication,
      OpenStreams streams,
      Event<Object> events,
      ExecutorService workers) {
    this.replicas = replicas;
    this.signals = signals;
    this.authentication = authentication;
    this.streams = streams;
    this.events = events;
    this.workers = workers;
  }

  /** An API key that caches must drop. */
  record ForgottenKey(String keyId) implements Shared {}

  /** A session that caches must drop. */
  record ForgottenSession(String sessionId) implements Shared {}

  void start(@Observes StartupEvent event) {
    replicas.start(this);
  }

  /** Runs after the loops have stopped, so that the next leader finds no unfinished work. */
  void stop(@Observes @Priority(Interceptor.Priority.LIBRARY_AFTER) ShutdownEvent event) {
    replicas.stop();
  }

  void send(@Observes Shared event, EventMetadata metadata) {
    if (!metadata.getQualifiers().contains(FromOtherReplica.Literal.INSTANCE)) {
      replicas.tellEvent(event);
    }
  }

  void send(@Observes KeyDeleted event) {
    replicas.tellEvent(new ForgottenKey(event.keyId()));
  }

  void send(@Observes SessionEnded event) {
    replicas.tellEvent(new ForgottenSession(event.sessionId()));
  }

  void forget(@Observes @FromOtherReplica ForgottenKey key) {
    authentication.forget(key.keyId());
    streams.closeOfKey(key.keyId());
  }

  void forget(@Observes @FromOtherReplica ForgottenSession session) {
    authentication.forgetSession(session.sessionId());
    streams.closeOfSession(session.sessionId());
  }

  @Override
  public void topic(String topic) {
    signals.fireHere(topic);
  }

  @Override
  public void event(Shared event) {
    fire(event);
  }

  @Override
  public void anything() {
    signals.fireAllHere();
    fire(new NotificationsLost());
  }

  /** Runs on a worker thread, because observers query the database. */
  private void fire(Object event) {
    if (pending.add(event)) {
      workers.execute(
          () -> {
            pending.remove(event);
            try {
              events.select(FromOtherReplica.Literal.INSTANCE).fire(event);
            } catch (RuntimeException e) {
              LOG.warnf(
                  "a notification from another replica cannot be processed: %s", e.getMessage());
            }
          });
    }
  }
}
