package dev.roost.cluster;

import dev.roost.db.TransientErrors;
import java.time.Duration;
import org.jboss.logging.Logger;

/**
 * A reconciler's thread: repeated passes with pauses; a wake-up ends a pause. A failed pass is
 * logged and retried, after pauses that grow up to ten seconds.
 *
 * <p>Passes run on the leader only. A pass that runs while leadership is lost, or whose process was
 * suspended and doesn't know the new leader yet, runs to its end without harm. Rows change by
 * compare-and-set, so a late pass changes no rows. A runtime object is named after its row, so
 * starting it twice has the same effect as starting it once. An object is stopped or removed only
 * after its end is in the database. Leadership avoids duplicate work and is not required for
 * correctness.
 */
public final class Loop {
  private static final Logger LOG = Logger.getLogger(Loop.class);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  /** Interval between checks of leadership; gaining leadership wakes the loop anyway. */
  private static final Duration WHILE_FOLLOWING = Duration.ofSeconds(1);

  private final Thread thread;
  private final Pass pass;
  private final Leadership leadership;
  private final Object monitor = new Object();
  private boolean woken;
  private boolean stopped;

  /** One pass. */
  @FunctionalInterface
  public interface Pass {
    /** Does all pending work and returns the pause before the next pass without a wake-up. */
    Duration run();
  }

  public Loop(String name, Leadership leadership, Pass pass) {
    this.pass = pass;
    this.leadership = leadership;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  public void start() {
    leadership.whenGained(this::wake);
    thread.start();
  }

  /** Starts the next pass at once, or after the running pass. */
  public void wake() {
    synchronized (monitor) {
      woken = true;
      monitor.notifyAll();
    }
  }

  /** Ends the loop and waits until the running pass has ended. */
  public void stop() {
    synchronized (monitor) {
      stopped = true;
      monitor.notifyAll();
    }
    try {
      thread.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    int failures = 0;
    while (true) {
      Duration pause;
      try {
        pause = leadership.isHeld() ? pass.run() : WHILE_FOLLOWING;
        failures = 0;
      } catch (RuntimeException | Error e) {
        // Errors are caught, too: otherwise the thread would end silently and its work would never
        // continue.
        failures++;
        long millis = Math.min(LONGEST_PAUSE.toMillis(), 100L << Math.min(failures, 10));
        pause = Duration.ofMillis(millis);
        if (TransientErrors.isTransient(e)) {
          LOG.warnf("%s: database unreachable; next attempt in %d ms", thread.getName(), millis);
        } else {
          LOG.errorf(e, "%s: a pass failed; next attempt in %d ms", thread.getName(), millis);
        }
      }
      if (!sleep(pause)) {
        return;
      }
    }
  }

  /** Returns false when the loop must end. */
  private boolean sleep(Duration pause) {
    long end = System.nanoTime() + pause.toNanos();
    synchronized (monitor) {
      while (!woken && !stopped) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          break;
        }
        try {
          monitor.wait(left);
        } catch (InterruptedException e) {
          return false;
        }
      }
      woken = false;
      return !stopped;
    }
  }
}
