package dev.roost.event;

import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import org.jboss.logging.Logger;

/**
 * The time between the order to stop and the stop: this process is not ready any more, so nobody
 * new is sent here, but it serves whoever comes all the same. Everyone who waits is answered at
 * once, as if the time were over, and asked to come back on another connection.
 *
 * <p>Quarkus counts the time ({@code quarkus.shutdown.delay}, from {@code roost.drain}), turns
 * readiness off, and lets open requests end after it.
 */
@ApplicationScoped
public class Draining {
  private static final Logger LOG = Logger.getLogger(Draining.class);

  /** Whoever is sent here again at once must not come in a busy loop. */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(250);

  private final Signals signals;
  private final Event<Begun> events;
  private volatile boolean on;

  Draining(Signals signals, Event<Begun> events) {
    this.signals = signals;
    this.events = events;
  }

  /** Told when it begins. */
  public record Begun() {}

  public boolean isOn() {
    return on;
  }

  /** How long somebody who asks now may wait. */
  public Duration shorten(Duration wait) {
    return on && wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }

  void begin(@Observes ShutdownDelayInitiatedEvent event) {
    LOG.info("stopping: whoever waits is answered now");
    on = true;
    signals.fireAllHere();
    events.fire(new Begun());
  }
}
