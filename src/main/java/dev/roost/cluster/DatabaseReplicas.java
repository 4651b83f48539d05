package dev.roost.cluster;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jboss.logging.Logger;

/**
 * Replicas that share a PostgreSQL database. Replicas notify each other with {@code NOTIFY}, and
 * one replica holds the leader's lock. A separate thread sends notifications at once, each batch in
 * its own transaction; notifications that arrive during a transaction form the next batch.
 */
final class DatabaseReplicas implements Replicas, DatabaseSession.Handler {
  private static final Logger LOG = Logger.getLogger(DatabaseReplicas.class);
  private static final int CAPACITY = 10_000;
  private static final long PAUSE_MILLIS = 500;
  private static final Duration STOP = Duration.ofSeconds(2);

  /**
   * A notification may be lost in a crash of the database, so the transaction doesn't wait for the
   * disk.
   */
  private static final Sql SEND =
      Sql.of(
          "select pg_notify('%s', p), set_config('synchronous_commit', 'off', true) from unnest(:payloads) p"
              .formatted(DatabaseSession.CHANNEL));

  private final String id = UUID.randomUUID().toString();
  private final DataSource pool;
  private final Outbox outbox = new Outbox(CAPACITY, Payload.ANYTHING);
  private final List<Runnable> whenGained = new CopyOnWriteArrayList<>();
  private final DatabaseSession session;
  private final Thread sender = new Thread(this::send, "replica-sender");
  private volatile Listener listener;
  private volatile boolean stopping;

  /**
   * @param pool connections for sending; a transaction is too short to justify a dedicated
   *     connection
   */
  DatabaseReplicas(DatabaseSession.Database database, DataSource pool) {
    this(database, DatabaseSession.Heartbeat.USUAL, pool);
  }

  DatabaseReplicas(
      DatabaseSession.Database database, DatabaseSession.Heartbeat heartbeat, DataSource pool) {
    this.pool = pool;
    this.session = new DatabaseSession(id, database, heartbeat, this);
    sender.setDaemon(true);
  }

  @Override
  public boolean isHeld() {
    return session.isLeader();
  }

  @Override
  public void whenGained(Runnable action) {
    whenGained.add(action);
  }

  @Override
  public void tellTopic(String topic) {
    outbox.add(Messages.topic(topic));
  }

  @Override
  public void tellEvent(Shared event) {
    if (!(event instanceof Shared.WithLeader) || !isHeld()) {
      outbox.add(Messages.event(event));
    }
  }

  @Override
  public void start(Listener listener) {
    this.listener = listener;
    session.start();
    sender.start();
  }

  @Override
  public void stop() {
    stopping = true;
    session.stop();
    outbox.close();
    try {
      sender.join(STOP.toMillis());
      session.join(STOP);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void connected() {
    listener.anything();
  }

  @Override
  public void leads() {
    whenGained.forEach(Runnable::run);
  }

  @Override
  public void heard(Payload payload) {
    for (String message : payload.messages()) {
      Messages.deliver(message, listener);
      if (message.equals(Payload.ANYTHING)) {
        leads(); // The leader may have missed a notification that only concerns the leader.
      }
    }
  }

  private void send() {
    try {
      for (List<String> messages = outbox.take(); !messages.isEmpty(); messages = outbox.take()) {
        notify(Payload.pack(id, messages));
      }
      // This process's own session also receives the notification, so that a stopped session ends
      // at once.
      notify(List.of(id));
    } catch (InterruptedException e) {
      LOG.debug("the sender was interrupted");
    }
  }

  /**
   * Retries until the notifications are sent. New notifications wait in the outbox, whose size is
   * limited.
   */
  private void notify(List<String> payloads) throws InterruptedException {
    while (true) {
      try (Connection connection = pool.getConnection()) {
        SEND.with("payloads", payloads.toArray(String[]::new)).list(connection, row -> row);
        return;
      } catch (SQLException e) {
        LOG.debugf("other replicas cannot be notified: %s", e.getMessage());
        if (stopping) {
          return;
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
  }
}
