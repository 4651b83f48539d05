package dev.roost.cluster;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.postgresql.Driver;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * One connection of this process's own, on which it hears notifications and holds, or tries to get,
 * the leader's lock. A connection that breaks is made anew.
 *
 * <p>The lock belongs to the database session, so it is free when that ends. PostgreSQL ends it
 * after three seconds in which the leader has not said that it is there, which it does each second:
 * so another one leads within five seconds, whether the leader was killed, stopped, or cut off. The
 * leader for its part doesn't lead beyond three seconds from the last time that it said so and was
 * answered, which is earlier: no two lead at a time, as long as their clocks run. (One whose whole
 * machine was asleep may finish a step that it was in; all steps are harmless then, see {@link
 * Loop}.)
 */
final class DatabaseSession {
  static final String CHANNEL = "roost";

  /** "roost" in hexadecimal: the advisory lock that the leader has. */
  private static final long LOCK = 0x726f6f7374L;

  private static final Logger LOG = Logger.getLogger(DatabaseSession.class);
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  /**
   * The idle time-out is what counts, for the process as for its machine; the others end the
   * session of a machine that is no more where PostgreSQL is older than 14.
   */
  private static final String SETTINGS =
      """
      select set_config(wanted.name, wanted.value, false)
      from (values ('idle_session_timeout', '%1$d000'), ('tcp_user_timeout', '%1$d000'),
        ('tcp_keepalives_idle', '1'), ('tcp_keepalives_interval', '1'), ('tcp_keepalives_count', '2'))
        as wanted (name, value)
      where exists (select 1 from pg_settings s where s.name = wanted.name)""";

  private final String replicaId;
  private final Database database;
  private final Heartbeat heartbeat;
  private final Handler handler;
  private final Thread thread;
  private final CountDownLatch stopped = new CountDownLatch(1);

  /** System.nanoTime until which the lock is ours; null when it isn't. */
  private volatile Long heldUntil;

  /** Where the database is. */
  record Database(String url, String username, String password) {}

  /**
   * @param beatSeconds how often a process says that it is there, and a follower tries to lead
   * @param silenceSeconds after which whoever says nothing is given up; longer than a beat
   */
  record Heartbeat(int beatSeconds, int silenceSeconds) {
    static final Heartbeat USUAL = new Heartbeat(1, 3);
  }

  /** Hears what happens; on the session's thread, which it must not block. */
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

  /** Ends after the notification that is heard next, or within a beat. */
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
        LOG.error("the connection between the replicas is made anew", e);
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
    // Not by the DriverManager: it asks for the class loader that the driver came from.
    Connection connection = new Driver().connect(database.url(), properties);
    if (connection == null) {
      throw new SQLException("no PostgreSQL URL: " + database.url());
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute(SETTINGS.formatted(heartbeat.silenceSeconds()));
      statement.execute("listen " + CHANNEL);
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

  /** Answers whether nobody leads now. */
  private boolean hear(PGNotification notification) {
    Payload payload = Payload.unpack(notification.getParameter());
    if (payload.sender().equals(replicaId)) {
      return false;
    }
    handler.heard(payload);
    return payload.messages().contains(Payload.VACANT);
  }

  /** Says that this process is there, and leads if nobody does. */
  private void beat(Connection connection, long now) throws SQLException {
    boolean leads = heldUntil != null;
    if (leads) {
      query(connection, "select true");
    } else if (!query(connection, "select pg_try_advisory_lock(" + LOCK + ")")) {
      return;
    }
    heldUntil = now + TimeUnit.SECONDS.toNanos(heartbeat.silenceSeconds());
    if (!leads) {
      LOG.infof("this replica (%s) leads", replicaId);
      handler.leads();
    }
  }

  /** Lets another one lead at once: both take effect together. */
  private void leave(Connection connection) throws SQLException {
    if (heldUntil != null) {
      heldUntil = null;
      String payload = replicaId + "\n" + Payload.VACANT;
      query(
          connection,
          "select pg_advisory_unlock(%d) from pg_notify('%s', '%s')"
              .formatted(LOCK, CHANNEL, payload));
    }
  }

  private static boolean query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      return rows.next() && rows.getBoolean(1);
    }
  }
}
