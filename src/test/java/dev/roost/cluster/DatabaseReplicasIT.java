package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** Several replicas in one process, each with its own connections to one database. */
@Timeout(180)
class DatabaseReplicasIT {
  /**
   * For replicas whose leadership and connections no pause of the machine may end; and what happens
   * within the limit of {@link Await} happens because one was told, not at the next beat.
   */
  private static final DatabaseSession.Heartbeat SLOW = new DatabaseSession.Heartbeat(600, 1_800);

  /** Outlives pauses as well, and looks each second whether nobody leads. */
  private static final DatabaseSession.Heartbeat PATIENT = new DatabaseSession.Heartbeat(1, 60);

  private static final TestDatabase DATABASE = new TestDatabase();
  private static String url;

  private final List<Replica> replicas = new ArrayList<>();

  /** Where a test holds them back: what some wait for who ask the pool for a connection. */
  private volatile CountDownLatch connections = new CountDownLatch(0);

  @BeforeAll
  static void startDatabase() {
    Map<String, String> settings = DATABASE.start();
    url = settings.get("quarkus.datasource.jdbc.url");
  }

  @AfterAll
  static void stopDatabase() {
    DATABASE.stop();
  }

  @AfterEach
  void stopReplicas() {
    replicas.forEach(replica -> replica.own.stop());
    // With a session, its lock is gone: the leader of the next test looks for it once.
    Await.until("their sessions have ended", () -> sessions() == 0);
  }

  /** One replica and what it has heard. */
  private static final class Replica implements Replicas.Listener {
    final DatabaseReplicas own;
    final Set<String> topics = ConcurrentHashMap.newKeySet();
    final List<Shared> events = new CopyOnWriteArrayList<>();
    final AtomicInteger anything = new AtomicInteger();
    final AtomicInteger gained = new AtomicInteger();

    Replica(String url, DatabaseSession.Heartbeat heartbeat, DataSource pool) {
      own =
          new DatabaseReplicas(
              new DatabaseSession.Database(url, "roost", "roost"), heartbeat, pool);
      own.whenGained(gained::incrementAndGet);
      own.start(this);
    }

    boolean leads() {
      return own.isHeld();
    }

    @Override
    public void topic(String topic) {
      topics.add(topic);
    }

    @Override
    public void event(Shared event) {
      events.add(event);
    }

    @Override
    public void anything() {
      anything.incrementAndGet();
    }
  }

  record Sample(int number) implements Shared {}

  record ForLeader(int number) implements Shared.WithLeader {}

  private static PGSimpleDataSource pool() {
    PGSimpleDataSource pool = new PGSimpleDataSource();
    pool.setUrl(url);
    pool.setUser("roost");
    pool.setPassword("roost");
    return pool;
  }

  private Replica replica(String url, DatabaseSession.Heartbeat heartbeat, DataSource pool) {
    Replica replica = new Replica(url, heartbeat, pool);
    replicas.add(replica);
    Await.until("it listens", () -> replica.anything.get() >= 1);
    return replica;
  }

  private Replica replica(DatabaseSession.Heartbeat heartbeat) {
    return replica(url, heartbeat, pool());
  }

  private Replica leader(DatabaseSession.Heartbeat heartbeat) {
    Replica leader = replica(heartbeat);
    Await.until("it leads", leader::leads);
    return leader;
  }

  /** Leadership is told of after it is there. */
  private static void awaitGained(int times, Replica... replicas) {
    Await.until(
        "it is told", () -> Stream.of(replicas).mapToInt(one -> one.gained.get()).sum() >= times);
    assertEquals(times, Stream.of(replicas).mapToInt(one -> one.gained.get()).sum());
  }

  @Test
  void oneLeadsAndWhenItStopsTheNextLeadsAtOnce() {
    Replica first = leader(SLOW);
    Replica second = replica(SLOW);
    Replica third = replica(SLOW);
    assertFalse(second.leads() || third.leads());
    awaitGained(1, first);

    first.own.stop();
    Await.until("another one leads", () -> second.leads() || third.leads());
    assertFalse(first.leads());
    assertFalse(second.leads() && third.leads());
    awaitGained(1, second, third);
  }

  /** The promise, which no test on a busy machine can measure. */
  @Test
  void anotherOneLeadsWithinFiveSecondsOfSilence() {
    DatabaseSession.Heartbeat usual = DatabaseSession.Heartbeat.USUAL;
    assertTrue(usual.silenceSeconds() + usual.beatSeconds() < 5);
    assertTrue(usual.beatSeconds() < usual.silenceSeconds());
  }

  @Test
  void aBrokenConnectionEndsLeadershipAndSomebodyLeadsAgain() throws SQLException {
    Replica first = leader(PATIENT);
    Replica second = replica(PATIENT);
    awaitGained(1, first, second);
    assertEquals(1, terminate("pg_locks l where l.pid = a.pid and l.locktype = 'advisory'"));
    Await.until("leadership is given up", () -> !first.leads() || first.gained.get() == 2);
    Await.until("somebody leads", () -> first.leads() ^ second.leads());
    awaitGained(2, first, second);
  }

  /** Its machine is gone: no end of the connection hears from the other. */
  @Test
  void aLeaderThatVanishesIsReplacedAndNoTwoLeadMeanwhile() throws IOException {
    int port = URI.create(url.substring("jdbc:".length())).getPort();
    try (Partition partition = new Partition(port)) {
      Replica first =
          replica(
              url.replace(":" + port, ":" + partition.port()),
              DatabaseSession.Heartbeat.USUAL,
              pool());
      Await.until("it leads", first::leads);
      Replica second = replica(PATIENT);
      AtomicBoolean two = new AtomicBoolean();
      partition.goSilent();
      Await.until(
          "the other one leads",
          () -> {
            // In this order: the first one must have stopped before the second one begins.
            boolean other = second.leads();
            two.set(two.get() || (other && first.leads()));
            return other;
          });
      assertFalse(two.get());

      partition.heal();
      Await.until("the first one is back", () -> first.anything.get() >= 2);
      assertFalse(first.leads());
      assertTrue(second.leads());
    }
  }

  @Test
  void aNotificationReachesAllReplicasExceptItsSender() {
    Replica first = leader(SLOW);
    Replica second = replica(SLOW);
    Replica third = replica(SLOW);
    first.own.tellTopic("exec_1");
    first.own.tellEvent(new Sample(1));
    second.own.tellTopic("exec_2");
    Await.until(
        "they hear it",
        () ->
            second.topics.equals(Set.of("exec_1"))
                && third.topics.equals(Set.of("exec_1", "exec_2"))
                && first.topics.equals(Set.of("exec_2"))
                && second.events.equals(List.of(new Sample(1)))
                && third.events.equals(List.of(new Sample(1))));
    assertEquals(List.of(), first.events);
  }

  @Test
  void whatConcernsTheLeaderAloneItKeepsToItself() {
    Replica first = leader(SLOW);
    Replica second = replica(SLOW);
    first.own.tellEvent(new ForLeader(1));
    first.own.tellEvent(new Sample(2));
    second.own.tellEvent(new ForLeader(3));
    Await.until("they hear it", () -> second.events.size() + first.events.size() == 2);
    assertEquals(List.of(new Sample(2)), second.events);
    assertEquals(List.of(new ForLeader(3)), first.events);
  }

  @Test
  void manyTopicsArriveOrAreOneNotificationOfAnyChange() {
    PGSimpleDataSource gated =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            try {
              connections.await();
            } catch (InterruptedException e) {
              throw new SQLException(e);
            }
            return pool().getConnection();
          }
        };
    Replica first = replica(url, SLOW, gated);
    Replica second = replica(SLOW);
    for (int i = 0; i < 5_000; i++) {
      first.own.tellTopic("exec_01jd3x5e6q8r9s0t1v2w3x4y5z" + i);
    }
    Await.until("all are heard", () -> second.topics.size() == 5_000);
    assertEquals(1, second.anything.get());

    connections = new CountDownLatch(1);
    for (int i = 0; i < 200_000; i++) {
      first.own.tellTopic("topic " + i); // Doesn't wait for the database, which doesn't answer.
    }
    connections.countDown();
    Await.until(
        "all are heard, or that anything may have changed",
        () -> second.topics.contains("topic 199999") || second.anything.get() > 1);
  }

  @Test
  void afterAConnectionBrokeEverythingMayHaveChanged() throws SQLException {
    Replica first = leader(SLOW);
    Replica second = replica(SLOW);
    terminate("(select 1) one where a.application_name <> ''");
    first.own.tellTopic("lost");
    Await.until("both look again", () -> first.anything.get() == 2 && second.anything.get() == 2);
    first.own.tellTopic("heard");
    Await.until("they hear each other again", () -> second.topics.contains("heard"));
  }

  @Test
  void stoppingWaitsForNoBeatAndSendsWhatIsPending() {
    Replica first = leader(SLOW);
    Replica second = replica(SLOW);
    first.own.tellTopic("last words");
    first.own.stop();
    Await.until("its session has ended", () -> sessions() == 1);
    Await.until("they are heard", () -> second.topics.contains("last words"));
  }

  /** Without a database nobody leads, nothing fails, and everything goes on afterwards. */
  @Test
  void aReplicaWithoutDatabaseWaitsForIt() throws IOException {
    int port = URI.create(url.substring("jdbc:".length())).getPort();
    try (Partition partition = new Partition(port)) {
      partition.goSilent();
      Replica replica =
          new Replica(
              url.replace(":" + port, ":" + partition.port()),
              DatabaseSession.Heartbeat.USUAL,
              pool());
      replicas.add(replica);
      LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
      assertFalse(replica.leads());
      partition.heal();
      Await.until("it leads", replica::leads);
    }
  }

  private static int sessions() {
    try (Connection connection = pool().getConnection();
        Statement statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "select count(*) from pg_stat_activity where application_name like 'roost %'")) {
      rows.next();
      return rows.getInt(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends sessions of replicas; answers how many. */
  private static int terminate(String which) throws SQLException {
    String sql =
        "select count(pg_terminate_backend(a.pid)) from pg_stat_activity a, "
            + which
            + (which.contains(" where ") ? " and " : " where ")
            + "a.application_name like 'roost %'";
    try (Connection connection = pool().getConnection();
        PreparedStatement statement = connection.prepareStatement(sql);
        var rows = statement.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    }
  }
}
