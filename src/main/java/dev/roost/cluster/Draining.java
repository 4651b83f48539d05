package dev.roost.cluster;

import dev.roost.config.RoostConfig;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.time.Duration;
import org.jboss.logging.Logger;

/**
 * The time between SIGTERM and the stop: this process is not ready any more, so nobody new is sent
 * here, but it serves whoever comes all the same. Who waits is answered shortly before it is over,
 * if not earlier, as if their own time were over, and everyone is asked to come back on another
 * connection. Executors, who come back by themselves, are answered at once.
 *
 * <p>Quarkus counts the time ({@code quarkus.shutdown.delay}, from {@code roost.drain}), turns
 * readiness off, and lets open requests end after it.
 */
@ApplicationScoped
public class Draining {
  private static final Logger LOG = Logger.getLogger(Draining.class);

  /** Whoever is sent here again at once must not come in a busy loop. */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(250);

  private static final Duration LATER = Duration.ofDays(1);

  /** For the last answers to be sent. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  private final Signals signals;
  private final Event<Begun> events;
  private final Duration drain;
  private volatile long waitsEnd;
  private volatile boolean on;

  @Inject
  Draining(Signals signals, Event<Begun> events, RoostConfig config) {
    this(signals, events, config.drain());
  }

  Draining(Signals signals, Event<Begun> events, Duration drain) {
    this.signals = signals;
    this.events = events;
    this.drain = drain;
  }

  /** Told when it begins. */
  public record Begun() {}

  public boolean isOn() {
    return on;
  }

  /** When those who wait already are answered, by System.nanoTime; far away while it is off. */
  long waitsEnd() {
    return on ? waitsEnd : System.nanoTime() + LATER.toNanos();
  }

  /** When somebody who asks now is answered at the latest, by System.nanoTime. */
  long end(Duration wait) {
    long now = System.nanoTime();
    long left = Math.max(waitsEnd() - now, LONGEST_WAIT.toNanos());
    return now + Math.min(wait.toNanos(), left);
  }

  /** How long an executor that asks now may wait. */
  public Duration shorten(Duration wait) {
    return on && wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }

  void begin(@Observes ShutdownDelayInitiatedEvent event) {
    LOG.infof("stopping: serving for %d s yet", drain.toSeconds());
    // Of a short drain, most of it.
    long margin = Math.min(MARGIN.toNanos(), drain.toNanos() / 4);
    waitsEnd = System.nanoTime() + drain.toNanos() - margin;
    on = true;
    signals.fireAllHere();
    events.fire(new Begun());
  }
}
