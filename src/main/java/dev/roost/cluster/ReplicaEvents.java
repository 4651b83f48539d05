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

/** Takes events of this process to the other replicas, and theirs to the observers here. */
@ApplicationScoped
class ReplicaEvents implements Replicas.Listener {
  private static final Logger LOG = Logger.getLogger(ReplicaEvents.class);

  private final Replicas replicas;
  private final Signals signals;
  private final Authentication authentication;
  private final OpenStreams streams;
  private final Event<Object> events;
  private final ExecutorService workers;

  /** Heard, and not yet taken up: hearing it once more adds nothing. Bounds what waits. */
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

  /** An API key that must not be remembered any more. */
  record ForgottenKey(String keyId) implements Shared {}

  /** A session that must not be remembered any more. */
  record ForgottenSession(String sessionId) implements Shared {}

  void start(@Observes StartupEvent event) {
    replicas.start(this);
  }

  /** After the loops have stopped: whoever leads next finds nothing half done. */
  void stop(@Observes @Priority(Interceptor.Priority.LIBRARY_AFTER) ShutdownEvent event) {
    replicas.stop();
  }

  void tell(@Observes Shared event, EventMetadata metadata) {
    if (!metadata.getQualifiers().contains(FromOtherReplica.Literal.INSTANCE)) {
      replicas.tellEvent(event);
    }
  }

  void tell(@Observes KeyDeleted event) {
    replicas.tellEvent(new ForgottenKey(event.keyId()));
  }

  void tell(@Observes SessionEnded event) {
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

  /** On a worker thread: observers ask the database. */
  private void fire(Object event) {
    if (pending.add(event)) {
      workers.execute(
          () -> {
            pending.remove(event);
            try {
              events.select(FromOtherReplica.Literal.INSTANCE).fire(event);
            } catch (RuntimeException e) {
              LOG.warnf("what another replica told can't be taken up: %s", e.getMessage());
            }
          });
    }
  }
}
