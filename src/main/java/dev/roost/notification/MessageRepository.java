package dev.roost.notification;

import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Messages in the database, with their results. */
@ApplicationScoped
class MessageRepository {
  /** The most items that a message describes; it counts the others. */
  static final int SHOWN = 20;

  private static final Sql CLAIM =
      Sql.of(
          """
          with due as (
            select m.id from notification_message m
            where m.state = 'pending' and m.next_attempt_at <= now() and m.id <> all(:sending)
            order by m.next_attempt_at limit :limit for update skip locked)
          update notification_message m set attempts = m.attempts + 1,
            next_attempt_at = now() + :lease * interval '1 second'
          from due where m.id = due.id
          returning m.id, m.channel_id, m.test, m.attempts,
            extract(epoch from m.give_up_at - now())::float8 as untried""");

  private static final Sql CHANNEL = Sql.of("select * from notification_channel where id = :id");

  private static final Sql POSTPONE =
      Sql.of(
          """
          update notification_message set attempts = attempts - 1, next_attempt_at = :until,
            give_up_at = greatest(give_up_at, cast(:until as timestamptz) + interval '1 hour')
          where id = :id and state = 'pending' and attempts = :attempt""");

  private static final Sql ISSUES =
      Sql.of(
          """
          select n.subject, n.types, i.agent_id, a.name as agent_name, i.title, i.function, i.line, i.first_seen_at,
            i.last_seen_at, i.failures, i.first_revision, i.last_revision, count(*) over () as total
          from (
            select subject, array_agg(type) as types, min(id) as first from notification
            where message_id = :message and type <> 'builder_job.failed' group by subject) n
          join issue i on i.id = n.subject and i.state = 'open'
          left join agent a on a.id = i.agent_id
          order by n.first limit :limit""");

  /** The newest build decides; one that runs has not ended the failure yet. */
  private static final Sql BUILDS =
      Sql.of(
          """
          select n.subject, array['builder_job.failed'] as types, n.subject as agent_id, a.name as agent_name,
            coalesce(j.message, j.reason, 'The build failed.') as title, null::text as function, null::integer as line,
            j.finished_at as first_seen_at, j.finished_at as last_seen_at, 0 as failures,
            j.agent_revision as first_revision, j.agent_revision as last_revision, count(*) over () as total
          from (
            select subject, min(id) as first from notification
            where message_id = :message and type = 'builder_job.failed' group by subject) n
          join agent a on a.id = n.subject and a.deleted_at is null
          cross join lateral (
            select * from builder_job b where b.agent_id = n.subject and b.state in ('succeeded', 'failed')
            order by b.id desc limit 1) j
          where j.state = 'failed'
          order by n.first limit :limit""");

  private static final Sql SETTLE =
      Sql.of(
          """
          update notification_message set state = :state, error = cast(:error as text),
            title = case when :title = '' then title else :title end,
            next_attempt_at = now() + cast(:pause as float8) * interval '1 second',
            finished_at = case when :state <> 'pending' then now() end
          where id = :id and state = 'pending' and attempts = :attempt""");

  private static final Sql LIST =
      Sql.of(
          """
          select * from notification_message where channel_id = :channel and id < :before
          order by id desc limit :limit""");

  private static final Sql GET = Sql.of("select * from notification_message where id = :id");

  private final Database database;
  private final Clock clock;

  MessageRepository(Database database, Clock clock) {
    this.database = database;
    this.clock = clock;
  }

  /**
   * A message that is being sent: nobody else sends it before the lease expires.
   *
   * @param attempt from 1
   * @param untried the remaining time for attempts
   */
  record Claim(String id, String channelId, boolean test, int attempt, Duration untried) {}

  /**
   * What a claimed message is about now.
   *
   * @param total of issues and builds, of which the items are the first
   */
  record Content(Channel channel, List<Item> items, long issues, long builds) {
    boolean isEmpty() {
      return items.isEmpty();
    }
  }

  /**
   * @param sending messages to skip
   * @param lease after which others may claim the messages
   */
  List<Claim> claim(int limit, Collection<String> sending, Duration lease) {
    Sql.Bound claim =
        CLAIM
            .with("limit", limit)
            .with("sending", sending.toArray(String[]::new))
            .with("lease", lease.toSeconds());
    return database.once(
        connection ->
            claim.list(
                connection,
                row ->
                    new Claim(
                        row.getString("id"),
                        row.getString("channel_id"),
                        row.getBoolean("test"),
                        row.getInt("attempts"),
                        Duration.ofMillis(Math.round(1_000 * row.getDouble("untried"))))));
  }

  /**
   * Empty: the channel has been deleted, or is in a quiet time, at whose end the message is due.
   */
  Optional<Content> content(Claim claim) {
    return database.inTransaction(connection -> content(connection, claim));
  }

  private Optional<Content> content(Connection connection, Claim claim) throws SQLException {
    Optional<Channel> found =
        CHANNEL.with("id", claim.channelId()).first(connection, Channel::read);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Channel channel = found.get();
    if (claim.test()) {
      return Optional.of(new Content(channel, List.of(), 0, 0));
    }
    Instant now = clock.instant();
    Instant end = channel.quietTimes().endOf(now);
    if (end.isAfter(now)) {
      POSTPONE
          .with("id", claim.id())
          .with("until", end)
          .with("attempt", claim.attempt())
          .update(connection);
      return Optional.empty();
    }
    long[] totals = new long[2];
    List<Item> items = new ArrayList<>(items(connection, ISSUES, claim, totals, 0));
    items.addAll(items(connection, BUILDS, claim, totals, 1));
    return Optional.of(new Content(channel, items, totals[0], totals[1]));
  }

  private static List<Item> items(
      Connection connection, Sql statement, Claim claim, long[] totals, int kind)
      throws SQLException {
    return statement
        .with("message", claim.id())
        .with("limit", SHOWN)
        .list(
            connection,
            row -> {
              totals[kind] = row.getLong("total");
              return Item.read(row);
            });
  }

  /**
   * Stores the result of an attempt, unless the message was claimed again or has ended.
   *
   * @param title empty: unchanged
   * @param pause before the next attempt; null: there is none
   */
  void settle(Claim claim, MessageState state, String title, String error, Duration pause) {
    Sql.Bound settle =
        SETTLE
            .with("id", claim.id())
            .with("attempt", claim.attempt())
            .with("state", state)
            .with("title", title)
            .with("error", error)
            .with("pause", pause == null ? null : pause.toMillis() / 1_000.0);
    database.once(settle::update);
  }

  /** Newest first. */
  Page<Message.View> page(String channelId, String cursor, int limit) {
    String before = Cursor.id("message", cursor);
    Sql.Bound select =
        LIST.with("channel", channelId)
            .with("before", before == null ? "message_~" : before)
            .with("limit", limit + 1);
    List<Message.View> messages =
        database.once(connection -> select.list(connection, Message.View::read));
    return Page.of(messages, limit, Message.View::id, message -> message);
  }

  Optional<Message.View> find(String id) {
    return database.once(connection -> GET.with("id", id).first(connection, Message.View::read));
  }
}
