package dev.roost.cluster;

import dev.roost.db.TransientErrors;
import java.time.Duration;
import org.jboss.logging.Logger;

/**
 * A reconciler's thread: one pass after another, with a pause that a wake-up ends. A pass that
 * fails is logged and tried again, after pauses that grow up to ten seconds.
 *
 * <p>Passes run on the leader only. One that runs when leadership is lost, or whose process was
 * asleep and doesn't know yet that another one leads, goes on to its end, and nothing breaks: rows
 * change by compare-and-set, so whoever is late changes none; what a runtime is told to start has
 * its name from its row, so starting it twice is starting it once; and what is ended or removed has
 * ended in the database before. Leadership saves work; it is not what makes a step right.
 */
public final class Loop {
  private static final Logger LOG = Logger.getLogger(Loop.class);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  /** How soon leadership is asked for again; gaining it wakes the loop anyway. */
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
    /** Does what is to do and says how long to wait when nothing wakes the loop. */
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

  /** Makes the next pass come at once; one that is running is followed by another. */
  public void wake() {
    synchronized (monitor) {
      woken = true;
      monitor.notifyAll();
    }
  }

  /** Ends the loop and waits until the pass that is running has ended. */
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
        // Errors too: what waits for this loop would otherwise wait for ever, and nobody would
        // know.
        failures++;
        long millis = Math.min(LONGEST_PAUSE.toMillis(), 100L << Math.min(failures, 10));
        pause = Duration.ofMillis(millis);
        if (TransientErrors.isTransient(e)) {
          LOG.warnf("%s: database out of reach, again in %d ms", thread.getName(), millis);
        } else {
          LOG.errorf(e, "%s: a pass failed, again in %d ms", thread.getName(), millis);
        }
      }
      if (!sleep(pause)) {
        return;
      }
    }
  }

  /** Answers false when the loop is to end. */
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
