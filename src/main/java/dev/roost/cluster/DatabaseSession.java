package dev.roost.cluster;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.postgresql.Driver;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * The connection of this process that receives notifications and holds, or tries to acquire, the
 * leader's lock. A broken connection is replaced.
 *
 * <p>The lock belongs to the database session and is released when the session ends. PostgreSQL
 * ends the session three seconds after the last heartbeat; the leader sends a heartbeat each
 * second. So another replica leads within five seconds after the leader was killed, stopped or
 * disconnected. The leader stops leading three seconds after it sent the last answered heartbeat,
 * which is earlier, so no two replicas lead at the same time as long as their clocks run. (A leader
 * whose machine was suspended may finish its current step; all steps are harmless then, see {@link
 * Loop}.)
 */
final class DatabaseSession {
  static final String CHANNEL = "roost";

  /** "roost" in hexadecimal: the advisory lock of the leader. */
  private static final long LOCK = 0x726f6f7374L;

  private static final Logger LOG = Logger.getLogger(DatabaseSession.class);
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  /**
   * The idle timeout detects both a dead process and a dead machine; the TCP timeouts end the
   * session of a dead machine on PostgreSQL before 14.
   */
  private static final Sql SETTINGS =
      Sql.of(
          """
          select set_config(wanted.name, wanted.value, false)
          from (values ('idle_session_timeout', cast(:milliseconds as text)),
            ('tcp_user_timeout', cast(:milliseconds as text)), ('tcp_keepalives_idle', '1'),
            ('tcp_keepalives_interval', '1'), ('tcp_keepalives_count', '2')) as wanted (name, value)
          where exists (select 1 from pg_settings s where s.name = wanted.name)
          """);

  private static final Sql LISTEN = Sql.of("listen " + CHANNEL);

  private static final Sql ALIVE = Sql.of("select true as held");

  private static final Sql TAKE = Sql.of("select pg_try_advisory_lock(" + LOCK + ") as held");

  private static final Sql RESIGN =
      Sql.of(
          "select pg_advisory_unlock(%d) from pg_notify('%s', :payload)".formatted(LOCK, CHANNEL));

  private final String replicaId;
  private final Database database;
  private final Heartbeat heartbeat;
  private final Handler handler;
  private final Thread thread;
  private final CountDownLatch stopped = new CountDownLatch(1);

  /** The System.nanoTime until which this process holds the lock; null without the lock. */
  private volatile Long heldUntil;

  /** The address and credentials of the database. */
  record Database(String url, String username, String password) {}

  /**
   * @param beatSeconds interval between heartbeats, and between a follower's attempts to lead
   * @param silenceSeconds time without a heartbeat after which a session is ended; longer than a
   *     beat
   */
  record Heartbeat(int beatSeconds, int silenceSeconds) {
    static final Heartbeat USUAL = new Heartbeat(1, 3);
  }

  /** Receives events on the session's thread; must not block. */
  interface Handler {
    void connected();

    void leads();

    void heard(Payload payload);
  }

  DatabaseSession(String replicaId, Database database, Heartbeat heartbeat, Handler handler) {
    this.replicaId = replicaId;
    this.database = database;
    this.heartbeat = heartbeat;
    this.handler = handler;
    this.thread = new Thread(this::run, "replica-session");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Ends after the next notification, or within a beat. */
  void stop() {
    stopped.countDown();
  }

  void join(Duration limit) throws InterruptedException {
    thread.join(limit.toMillis());
  }

  boolean isLeader() {
    Long until = heldUntil;
    return until != null && until - System.nanoTime() > 0;
  }

  private boolean isStopped() {
    return stopped.getCount() == 0;
  }

  private void run() {
    long pause = FIRST_PAUSE_MILLIS;
    while (!isStopped()) {
      try (Connection connection = connect()) {
        handler.connected();
        pause = FIRST_PAUSE_MILLIS;
        serve(connection);
        leave(connection);
        return;
      } catch (SQLException e) {
        LOG.log(
            pause == FIRST_PAUSE_MILLIS ? Logger.Level.WARN : Logger.Level.DEBUG,
            "the connection between the replicas is broken: " + e.getMessage());
      } catch (RuntimeException e) {
        LOG.error("the connection between the replicas failed and is reopened", e);
      } finally {
        heldUntil = null;
      }
      try {
        stopped.await(pause, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        return;
      }
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    }
  }

  private Connection connect() throws SQLException {
    Properties properties = new Properties();
    if (database.username() != null) {
      properties.setProperty("user", database.username());
    }
    if (database.password() != null) {
      properties.setProperty("password", database.password());
    }
    properties.setProperty("ApplicationName", "roost " + replicaId);
    properties.setProperty("connectTimeout", Integer.toString(heartbeat.silenceSeconds()));
    properties.setProperty("socketTimeout", Integer.toString(heartbeat.silenceSeconds()));
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("socketFactory", PromptSocketFactory.class.getName());
    // Not with the DriverManager, which requires the class loader of the driver.
    Connection connection = new Driver().connect(database.url(), properties);
    if (connection == null) {
      throw new SQLException("no PostgreSQL URL: " + database.url());
    }
    try {
      SETTINGS
          .with("milliseconds", heartbeat.silenceSeconds() + "000")
          .list(connection, row -> row);
      LISTEN.with().update(connection);
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private void serve(Connection connection) throws SQLException {
    PGConnection session = connection.unwrap(PGConnection.class);
    long beat = TimeUnit.SECONDS.toNanos(heartbeat.beatSeconds());
    while (!isStopped()) {
      long began = System.nanoTime();
      beat(connection, began);
      boolean vacant = false;
      for (long left = beat;
          left > 0 && !vacant && !isStopped();
          left = began + beat - System.nanoTime()) {
        int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left));
        PGNotification[] notifications = session.getNotifications(millis);
        if (notifications == null) {
          continue;
        }
        for (PGNotification notification : notifications) {
          vacant |= hear(notification);
        }
      }
    }
  }

  /** Returns whether the leader has resigned. */
  private boolean hear(PGNotification notification) {
    Payload payload = Payload.unpack(notification.getParameter());
    if (payload.sender().equals(replicaId)) {
      return false;
    }
    handler.heard(payload);
    return payload.messages().contains(Payload.VACANT);
  }

  /** Sends a heartbeat, and leads if no other process leads. */
  private void beat(Connection connection, long now) throws SQLException {
    boolean leads = heldUntil != null;
    boolean held =
        (leads ? ALIVE : TAKE)
            .with()
            .first(connection, row -> row.getBoolean("held"))
            .orElseThrow();
    if (!held) {
      return;
    }
    heldUntil = now + TimeUnit.SECONDS.toNanos(heartbeat.silenceSeconds());
    if (!leads) {
      LOG.infof("this replica (%s) leads", replicaId);
      handler.leads();
    }
  }

  /**
   * Resigns: the unlock and the notification take effect together, so another replica leads at
   * once.
   */
  private void leave(Connection connection) throws SQLException {
    if (heldUntil != null) {
      heldUntil = null;
      String payload = replicaId + "\n" + Payload.VACANT;
      RESIGN.with("payload", payload).list(connection, row -> row);
    }
  }
}
