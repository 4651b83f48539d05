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
 * The time between SIGTERM and the stop. The process is not ready, so a load balancer sends no new
 * connections, but the process still serves all requests. Waiting requests end shortly before the
 * drain ends, with the same response as at their own timeout, and all responses close their
 * connections. Executors poll again anyway, so their requests end at once.
 *
 * <p>Quarkus measures the time ({@code quarkus.shutdown.delay}, from {@code roost.drain}), turns
 * readiness off, and lets open requests finish after the drain.
 */
@ApplicationScoped
public class Draining {
  private static final Logger LOG = Logger.getLogger(Draining.class);

  /**
   * How long new requests may wait during the drain, so that clients routed here again don't poll
   * in a busy loop.
   */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(250);

  private static final Duration LATER = Duration.ofDays(1);

  /** Time to send the last responses. */
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

  /** Fired when the drain begins. */
  public record Begun() {}

  public boolean isOn() {
    return on;
  }

  /** When waiting requests end, by System.nanoTime; far in the future without a drain. */
  long waitsEnd() {
    return on ? waitsEnd : System.nanoTime() + LATER.toNanos();
  }

  /** The latest end of a request that begins now, by System.nanoTime. */
  long end(Duration wait) {
    long now = System.nanoTime();
    long left = Math.max(waitsEnd() - now, LONGEST_WAIT.toNanos());
    return now + Math.min(wait.toNanos(), left);
  }

  /** How long a request of an executor that begins now may wait. */
  public Duration shorten(Duration wait) {
    return on && wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }

  void begin(@Observes ShutdownDelayInitiatedEvent event) {
    LOG.infof("stopping: serving requests for another %d s", drain.toSeconds());
    // A short drain keeps most of its time.
    long margin = Math.min(MARGIN.toNanos(), drain.toNanos() / 4);
    waitsEnd = System.nanoTime() + drain.toNanos() - margin;
    on = true;
    signals.fireAllHere();
    events.fire(new Begun());
  }
}
