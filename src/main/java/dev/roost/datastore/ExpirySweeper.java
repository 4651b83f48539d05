package dev.roost.datastore;

import dev.roost.cluster.Leadership;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.db.Database;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;

/**
 * Removes expired entries and old idempotency records on a schedule. They are already invisible, so
 * this only frees their space; concurrent sweepers skip each other's rows.
 */
@ApplicationScoped
class ExpirySweeper {
  private static final int BATCH = 1_000;
  private static final Duration PAUSE = Duration.ofSeconds(10);

  private final Entries entries;
  private final Database database;
  private final Leadership leadership;
  private final Loop loop;
  private volatile boolean stopping;

  ExpirySweeper(Entries entries, Database database, Replicas replicas, Loops loops) {
    this.entries = entries;
    this.database = database;
    this.leadership = replicas;
    this.loop = loops.make("expiry-sweeper", this::sweep);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    loop.stop();
  }

  private Duration sweep() {
    while (entries.sweep(BATCH) == BATCH && leadership.isHeld() && !stopping) {
      // One transaction per batch, so that no lock is held for long.
    }
    while (database.once(connection -> IdempotencyRecords.sweep(connection, BATCH)) == BATCH
        && !stopping) {
      // As above.
    }
    return PAUSE;
  }
}
