package dev.roost.notification;

import dev.roost.api.Ids;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import dev.roost.webhook.Retries;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects notifications from the log of events, and makes a message of what a channel has
 * collected, when it is due. The position in the log moves in the transaction that collects, by
 * compare-and-set, so that two replicas that believe that they lead collect everything once.
 */
@ApplicationScoped
class Collector {
  private static final int BATCH = 200;

  private static final EventLog.Filter EVENTS =
      new EventLog.Filter(NotificationTypes.ALL, null, null);

  private static final Sql PROGRESS = Sql.of("select position from notification_progress");

  private static final Sql MOVE =
      Sql.of("update notification_progress set position = :next where position = :position");

  /** Locked, so that a channel that is being disabled collects nothing afterwards. */
  private static final Sql ACTIVE =
      Sql.of(
          """
          select * from notification_channel where state = 'active' order by id for no key update""");

  private static final Sql NAMES = Sql.of("select id, name from agent where id = any(:ids)");

  private static final Sql COLLECT =
      Sql.of(
          """
          insert into notification (channel_id, type, subject)
          select :channel, n.type, n.subject from unnest(:types, :subjects) n (type, subject)
          on conflict do nothing""");

  private static final Sql SET_DUE =
      Sql.of(
          """
          update notification_channel set due_at = :due where id = :id""");

  private static final Sql LAST =
      Sql.of("select last_message_at from notification_channel where id = :id");

  private static final Sql DUE =
      Sql.of(
          """
          select * from notification_channel c where c.due_at <= :now and c.state = 'active'
            and not exists (select 1 from notification_message m
              where m.channel_id = c.id and m.state = 'pending' and not m.test)
          order by c.due_at limit 20 for no key update skip locked""");

  private static final Sql MESSAGE =
      Sql.of(
          """
          insert into notification_message (id, channel_id, test, state, title, attempts, created_at,
            next_attempt_at, give_up_at)
          values (:id, :channel, :test, 'pending', '', 0, now(), now(), now() + :period * interval '1 second')""");

  private static final Sql TAKE =
      Sql.of(
          """
          update notification set message_id = :message where channel_id = :channel and message_id is null""");

  private static final Sql TAKEN =
      Sql.of(
          """
          update notification_channel set due_at = null, last_message_at = :now where id = :id""");

  private final Database database;
  private final EventLog events;
  private final Clock clock;
  private final Duration delay;

  Collector(Database database, EventLog events, Clock clock, RoostConfig config) {
    this.database = database;
    this.events = events;
    this.clock = clock;
    this.delay = config.notifications().delay();
  }

  /** Collects up to {@link #BATCH} events; returns whether there may be more. */
  boolean collect() {
    long position =
        database.once(
            connection ->
                PROGRESS.with().first(connection, row -> row.getLong("position")).orElseThrow());
    EventLog.Part part = events.read(position, BATCH, EVENTS);
    if (part.next() == position) {
      return false;
    }
    return database.inTransaction(
        connection -> {
          Sql.Bound move = MOVE.with("next", part.next()).with("position", position);
          if (move.update(connection) > 0 && !part.entries().isEmpty()) {
            collect(connection, part.entries());
          }
          return part.entries().size() == BATCH;
        });
  }

  private void collect(Connection connection, List<EventLog.Entry> entries) throws SQLException {
    Map<String, String> names = new HashMap<>();
    NAMES
        .with("ids", entries.stream().map(EventLog.Entry::agentId).toArray(String[]::new))
        .list(connection, row -> names.put(row.getString("id"), row.getString("name")));
    for (Channel channel : ACTIVE.with().list(connection, Channel::read)) {
      List<EventLog.Entry> wanted =
          entries.stream()
              .filter(entry -> channel.wants(entry.type(), names.get(entry.agentId())))
              .toList();
      if (!wanted.isEmpty()) {
        collect(connection, channel, wanted);
      }
    }
  }

  private void collect(Connection connection, Channel channel, List<EventLog.Entry> wanted)
      throws SQLException {
    COLLECT
        .with("channel", channel.id())
        .with("types", wanted.stream().map(EventLog.Entry::type).toArray(String[]::new))
        .with("subjects", wanted.stream().map(Collector::subject).toArray(String[]::new))
        .update(connection);
    if (channel.dueAt() == null) {
      Instant last =
          LAST.with("id", channel.id())
              .list(connection, row -> Sql.instant(row, "last_message_at"))
              .get(0);
      Instant due = due(channel, last, clock.instant(), delay);
      SET_DUE.with("id", channel.id()).with("due", due).update(connection);
    }
  }

  /** One notification for all failed builds of an agent. */
  private static String subject(EventLog.Entry entry) {
    return entry.type().equals(NotificationTypes.BUILD_FAILED) ? entry.agentId() : entry.subject();
  }

  /**
   * When what is collected from now on is sent.
   *
   * @param last when the channel's last message was created; null: never
   */
  static Instant due(Channel channel, Instant last, Instant now, Duration delay) {
    Instant due = now.plus(delay);
    Instant allowed = last == null ? due : last.plusSeconds(channel.minIntervalSeconds());
    return channel.quietTimes().endOf(allowed.isAfter(due) ? allowed : due);
  }

  /** Makes messages of what is due; a channel whose message is still pending waits for it. */
  void seal() {
    database.inTransaction(
        connection -> {
          Instant now = clock.instant();
          for (Channel channel : DUE.with("now", now).list(connection, Channel::read)) {
            Instant end = channel.quietTimes().endOf(now); // They may have changed.
            if (end.isAfter(now)) {
              SET_DUE.with("id", channel.id()).with("due", end).update(connection);
              continue;
            }
            String id = Ids.next("message");
            insert(connection, id, channel.id(), false);
            TAKE.with("message", id).with("channel", channel.id()).update(connection);
            TAKEN.with("id", channel.id()).with("now", now).update(connection);
          }
          return null;
        });
  }

  /** Creates a test message and returns its identifier. */
  String test(String channelId) {
    String id = Ids.next("message");
    database.once(connection -> insert(connection, id, channelId, true));
    return id;
  }

  private static int insert(Connection connection, String id, String channelId, boolean test)
      throws SQLException {
    return MESSAGE
        .with("id", id)
        .with("channel", channelId)
        .with("test", test)
        .with("period", Retries.PERIOD.toSeconds())
        .update(connection);
  }
}
