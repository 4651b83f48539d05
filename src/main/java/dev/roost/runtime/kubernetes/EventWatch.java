package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;

/**
 * One watch of the namespace's events, in a thread of its own. Unlike an informer, it never lists
 * or stores all events: it starts with the events of now, and reports whether it is connected.
 *
 * <p>The API server ends each watch after two minutes. The next one begins where the last one
 * ended, so that a connection that died silently only delays events. If that place no longer exists
 * (410 Gone), the stored events are dropped.
 */
final class EventWatch implements AutoCloseable {
  private static final Logger LOG = Logger.getLogger(EventWatch.class);

  static final Duration PAUSE = Duration.ofSeconds(1);
  private static final int WATCH_SECONDS = 120;
  private static final Duration MAX_PAUSE = Duration.ofMinutes(1);

  /** A watch that hasn't ended by now is dead. */
  private static final long OVERDUE_NANOS = Duration.ofSeconds(WATCH_SECONDS + 30).toNanos();

  /** Longer than the pauses between the reconciler's passes. */
  private static final long UNUSED_NANOS = Duration.ofMinutes(5).toNanos();

  private final Cluster cluster;
  private final LatestEvents latest;
  private final long pauseNanos;
  private final LongSupplier nanoTime;

  /** Whether the last attempt to connect has succeeded. */
  private volatile boolean connected;

  private volatile long connectedAt;
  private volatile long usedAt;
  private Thread thread;
  private InputStream stream;
  private volatile boolean closed;

  /** Where the next watch begins; null: now. Only the thread uses it. */
  private String resourceVersion;

  /**
   * @param pause the shortest time between two connections
   */
  EventWatch(Cluster cluster, LatestEvents latest, Duration pause, LongSupplier nanoTime) {
    this.cluster = cluster;
    this.latest = latest;
    this.pauseNanos = pause.toNanos();
    this.nanoTime = nanoTime;
  }

  /** Starts the watch if it doesn't run, and ends a dead connection. Doesn't wait. */
  synchronized void keep() {
    usedAt = nanoTime.getAsLong();
    if (thread == null && !closed) {
      thread = new Thread(this::run, "event-watch");
      thread.setDaemon(true);
      thread.start();
    } else if (isOverdue()) {
      disconnect();
    }
  }

  /** Whether the stored events are up to date. */
  boolean isLive() {
    return connected && !isOverdue();
  }

  private boolean isOverdue() {
    return nanoTime.getAsLong() - connectedAt > OVERDUE_NANOS;
  }

  private void run() {
    resourceVersion = null;
    long pause = pauseNanos;
    while (goesOn()) {
      long startedAt = System.nanoTime();
      try {
        receive();
        pause = pauseNanos;
      } catch (IOException | RuntimeException e) {
        report(e, pause == pauseNanos);
        pause = connected ? pauseNanos : Math.min(2 * pause, MAX_PAUSE.toNanos());
        connected = false;
        if (!canResume(e)) {
          resourceVersion = null;
        }
      }
      rest(pause - (System.nanoTime() - startedAt));
    }
  }

  private void report(Exception failure, boolean first) {
    if (!closed) {
      LOG.logf(
          first ? Logger.Level.INFO : Logger.Level.DEBUG,
          "Events are not watched at the moment and are listed instead: %s",
          failure.getMessage());
    }
  }

  /** False ends the thread: nothing reconciles in this process any longer, or it shuts down. */
  private synchronized boolean goesOn() {
    boolean used = nanoTime.getAsLong() - usedAt < UNUSED_NANOS;
    if (closed || !used) {
      connected = false;
      thread = null;
      return false;
    }
    return true;
  }

  private void receive() throws IOException {
    if (resourceVersion == null) {
      String now = cluster.eventsVersion();
      // Afterwards, since Jobs that are followed from here on miss no event.
      latest.clear();
      resourceVersion = now;
    }
    boolean quiet = true;
    try (InputStream body = cluster.watchEvents(resourceVersion, WATCH_SECONDS)) {
      connected(body);
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        quiet = false;
        accept(Serialization.unmarshal(line, WatchEvent.class));
      }
    } finally {
      connected(null);
    }
    if (quiet) {
      // An old version would soon be gone, and one from before a restored backup never comes.
      resourceVersion = null;
    }
  }

  private void accept(WatchEvent change) {
    if (!(change.getObject() instanceof Event event)) {
      throw new IllegalStateException(change.getType() + ": " + change.getObject());
    }
    switch (change.getType()) {
      case "ADDED", "MODIFIED" -> latest.put(event);
      case "DELETED" -> latest.remove(event);
      default -> LOG.tracef("%s", change.getType());
    }
    resourceVersion = event.getMetadata().getResourceVersion();
  }

  /** A connection that fails has missed nothing yet; any other failure may have. */
  private static boolean canResume(Exception failure) {
    return failure instanceof IOException
        || failure instanceof RuntimeUnavailable
        || (failure instanceof KubernetesClientException refused
            && refused.getCode() != HttpURLConnection.HTTP_GONE);
  }

  private synchronized void connected(InputStream body) {
    stream = body;
    if (body != null) {
      connectedAt = nanoTime.getAsLong();
      connected = true;
      if (closed) {
        disconnect();
      }
    }
  }

  private synchronized void disconnect() {
    if (stream != null) {
      try {
        stream.close();
      } catch (IOException e) {
        LOG.debugf("a watch cannot be closed: %s", e.getMessage());
      }
    }
  }

  private void rest(long nanos) {
    try {
      synchronized (this) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; !closed && left > 0; left = end - System.nanoTime()) {
          wait(left / 1_000_000, (int) (left % 1_000_000));
        }
      }
    } catch (InterruptedException e) {
      close();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    disconnect();
    notifyAll();
  }
}
