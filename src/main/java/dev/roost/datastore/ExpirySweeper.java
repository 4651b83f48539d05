package dev.roost.datastore;

import dev.roost.api.ProblemMappers;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Removes expired entries now and then. Nobody sees them any more, so all this does is to give
 * their space back; replicas that sweep at the same time pass over each other's rows.
 */
@ApplicationScoped
class ExpirySweeper {
  private static final Logger LOG = Logger.getLogger(ExpirySweeper.class);
  private static final int BATCH = 1_000;
  private static final int PAUSE_SECONDS = 60;

  private final Entries entries;
  private ScheduledExecutorService executor;

  ExpirySweeper(Entries entries) {
    this.entries = entries;
  }

  void start(@Observes StartupEvent event) {
    executor =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread thread = new Thread(work, "expiry-sweeper");
              thread.setDaemon(true);
              return thread;
            });
    executor.scheduleWithFixedDelay(this::sweep, PAUSE_SECONDS, PAUSE_SECONDS, TimeUnit.SECONDS);
  }

  void stop(@Observes ShutdownEvent event) {
    executor.shutdownNow();
  }

  private void sweep() {
    try {
      while (entries.sweep(BATCH) == BATCH && !Thread.interrupted()) {
        // One batch, one transaction: no lock is held for long.
      }
    } catch (RuntimeException e) {
      if (ProblemMappers.isPassing(e)) {
        LOG.debug("expired entries stay until the database is back", e);
      } else {
        LOG.error("expired entries can't be removed", e);
      }
    }
  }
}
