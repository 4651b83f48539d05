package dev.roost.event;

import dev.roost.cluster.Signals;
import dev.roost.db.Database;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jboss.logging.Logger;

/**
 * The end of the event log, read once for all streams of this process: after a signal, and
 * periodically because a signal may be lost. A stream that is further behind reads the database
 * until it has caught up. Without streams, nothing is read.
 */
@ApplicationScoped
public class EventTail {
  private static final Logger LOG = Logger.getLogger(EventTail.class);

  /** Signalled after events were read, in this process only. */
  public static final String TOPIC = "events read";

  private static final int STEP = 500;
  private static final int MAX_ENTRIES = 2_000;
  private static final long MAX_CHARACTERS = 4 << 20;

  private final Signals signals;
  private final Source source;
  private final Duration every;
  private final Thread thread = new Thread(this::run, "event-tail");
  private final TreeMap<Long, EventLog.Entry> recent = new TreeMap<>();
  private long characters;

  /** All events in (from, to] are in {@link #recent}. */
  private long from;

  private long to;
  private int followers;
  private boolean stopped;

  /** The source of events. */
  interface Source {
    long latest();

    EventLog.Part read(long after, int limit, EventLog.Filter filter);
  }

  @Inject
  EventTail(EventLog log, Signals signals) {
    this(log, signals, Duration.ofSeconds(1));
  }

  /**
   * @param every polling interval without a signal
   */
  EventTail(Source source, Signals signals, Duration every) {
    this.source = source;
    this.signals = signals;
    this.every = every;
    thread.setDaemon(true);
  }

  void start(@Observes StartupEvent event) {
    thread.start();
  }

  void stop(@Observes ShutdownEvent event) throws InterruptedException {
    synchronized (this) {
      stopped = true;
      notifyAll();
    }
    thread.interrupt();
    thread.join(5_000);
  }

  /** Registers a stream, which reads until {@link #leave}. */
  public synchronized void join() {
    followers++;
    notifyAll();
  }

  public synchronized void leave() {
    followers--;
  }

  /** The next events after a position, as in {@link EventLog#read}. */
  public EventLog.Part read(long after, int limit, EventLog.Filter filter) {
    synchronized (this) {
      if (followers > 0 && to > 0 && after >= from) {
        return after >= to ? new EventLog.Part(List.of(), after) : remembered(after, limit, filter);
      }
    }
    return source.read(after, limit, filter);
  }

  private EventLog.Part remembered(long after, int limit, EventLog.Filter filter) {
    List<EventLog.Entry> matching = new ArrayList<>();
    for (EventLog.Entry entry : recent.tailMap(after, false).values()) {
      if (filter.matches(entry)) {
        matching.add(entry);
        if (matching.size() == limit) {
          return new EventLog.Part(matching, entry.position());
        }
      }
    }
    return new EventLog.Part(matching, to);
  }

  private void run() {
    try {
      while (awaitFollower()) {
        // Get the future before reading, so that no signal is missed.
        CompletableFuture<Void> change = signals.next(EventLog.TOPIC);
        try {
          boolean more = true;
          while (more) {
            more = readOn();
          }
        } catch (Database.Failure e) {
          LOG.debugf("the log of events cannot be read: %s", e.getMessage());
        } catch (RuntimeException e) {
          LOG.warn("the log of events cannot be read", e);
        }
        await(change);
      }
    } catch (InterruptedException e) {
      LOG.debug("the tail was interrupted");
    }
  }

  /** Waits for a stream; false: the process is stopping. */
  private synchronized boolean awaitFollower() throws InterruptedException {
    while (followers == 0 && !stopped) {
      // Without streams, events are not read, so the next stream starts with an empty cache.
      recent.clear();
      characters = 0;
      from = 0;
      to = 0;
      wait();
    }
    return !stopped;
  }

  /** Reads some events and signals; returns whether more events may exist. */
  private boolean readOn() {
    long after;
    synchronized (this) {
      after = to;
    }
    if (after == 0) {
      long latest = source.latest();
      synchronized (this) {
        from = latest;
        to = latest;
      }
      signals.fireHere(TOPIC); // Earlier streams may be behind.
      return latest > 0;
    }
    EventLog.Part part = source.read(after, STEP, EventLog.Filter.NONE);
    synchronized (this) {
      for (EventLog.Entry entry : part.entries()) {
        recent.put(entry.position(), entry);
        characters += entry.data().text().length();
      }
      to = part.next();
      while (recent.size() > MAX_ENTRIES || characters > MAX_CHARACTERS) {
        var oldest = recent.pollFirstEntry();
        characters -= oldest.getValue().data().text().length();
        from = oldest.getKey();
      }
    }
    if (!part.entries().isEmpty()) {
      signals.fireHere(TOPIC);
    }
    return part.entries().size() == STEP;
  }

  private void await(CompletableFuture<Void> change) throws InterruptedException {
    try {
      change.get(every.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      change.cancel(false);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
