package dev.roost.notification;

import dev.roost.api.Ids;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The notification channels in the database. */
@ApplicationScoped
class Channels {
  /** Each event is compared with each channel. */
  private static final int MOST = 100;

  private static final int DEFAULT_INTERVAL_SECONDS = 300;

  private static final Sql COUNT = Sql.of("select count(*) as channels from notification_channel");

  private static final Sql INSERT =
      Sql.of(
          """
          insert into notification_channel (id, name, kind, recipients, url, agents, event_types, min_interval_seconds,
            time_zone, quiet_times, state, created_at, updated_at)
          values (:id, :name, :kind, :recipients, cast(:url as text), :agents, :types, :interval, :zone, :quiet,
            :state, :now, :now)
          returning *""");

  private static final Sql LIST =
      Sql.of(
          """
          select * from notification_channel where id < :before order by id desc limit :limit""");

  private static final Sql GET = Sql.of("select * from notification_channel where id = :id");

  private static final Sql LATEST =
      Sql.of(
          """
          select m.* from unnest(:ids) c(id) cross join lateral (
            select * from notification_message m where m.channel_id = c.id order by m.id desc limit 1) m""");

  private static final Sql LOCK =
      Sql.of("select * from notification_channel where id = :id for no key update");

  private static final Sql UPDATE =
      Sql.of(
          """
          update notification_channel set name = :name, recipients = :recipients, url = cast(:url as text),
            agents = :agents, event_types = :types, min_interval_seconds = :interval, time_zone = :zone,
            quiet_times = :quiet, state = :state, updated_at = :now,
            due_at = case when :state = 'active' then due_at end
          where id = :id
          returning *""");

  private static final Sql FORGET =
      Sql.of("delete from notification where channel_id = :id and message_id is null");

  private static final Sql DROP =
      Sql.of(
          """
          update notification_message set state = 'dropped', next_attempt_at = null, finished_at = now(),
            error = 'the channel was disabled'
          where channel_id = :id and state = 'pending'""");

  private static final Sql DELETE = Sql.of("delete from notification_channel where id = :id");

  private final Database database;
  private final Clock clock;

  Channels(Database database, Clock clock) {
    this.database = database;
    this.clock = clock;
  }

  /**
   * @throws Problem validation_failed: there are too many
   */
  Channel make(ChannelRequest request) {
    long count =
        database.once(
            connection ->
                COUNT.with().first(connection, row -> row.getLong("channels")).orElseThrow());
    if (count >= MOST) {
      throw Problem.invalid(
          "/name", "out_of_range", "There can be at most " + MOST + " channels; delete one first.");
    }
    Sql.Bound insert =
        INSERT
            .with("id", Ids.next("channel"))
            .with("name", request.name())
            .with("kind", request.kind())
            .with("recipients", array(or(request.recipients(), List.of())))
            .with("url", request.url())
            .with("agents", array(or(request.agents(), List.of())))
            .with("types", array(or(request.eventTypes(), NotificationTypes.ALL)))
            .with("interval", or(request.minIntervalSeconds(), DEFAULT_INTERVAL_SECONDS))
            .with("zone", or(request.timeZone(), "UTC"))
            .with("quiet", Channel.json(or(request.quietTimes(), List.of())))
            .with("state", or(request.state(), ChannelState.ACTIVE))
            .with("now", clock.instant());
    return database.once(connection -> insert.first(connection, Channel::read).orElseThrow());
  }

  /** Newest first. */
  Page<Channel.View> page(String cursor, int limit) {
    Sql.Bound select =
        LIST.with("before", cursor == null ? "channel_~" : cursor).with("limit", limit + 1);
    List<Channel> channels =
        database.once(connection -> withLatest(connection, select.list(connection, Channel::read)));
    return Page.of(channels, limit, Channel::id, Channel.View::of);
  }

  /**
   * @throws Problem not_found
   */
  Channel get(String id) {
    return database
        .once(
            connection ->
                withLatest(connection, GET.with("id", id).list(connection, Channel::read)))
        .stream()
        .findFirst()
        .orElseThrow(() -> absent(id));
  }

  private static List<Channel> withLatest(Connection connection, List<Channel> channels)
      throws SQLException {
    Map<String, Message.View> latest =
        LATEST
            .with("ids", channels.stream().map(Channel::id).toArray(String[]::new))
            .list(connection, Message.View::read)
            .stream()
            .collect(Collectors.toMap(Message.View::channelId, Function.identity()));
    return channels.stream().map(channel -> channel.with(latest.get(channel.id()))).toList();
  }

  /**
   * @param read the request, given the channel as it is
   * @throws Problem not_found, validation_failed
   */
  Channel change(String id, Function<Channel, ChannelRequest> read) {
    ChannelRequest request = read.apply(get(id));
    return database.inTransaction(connection -> change(connection, id, request));
  }

  private Channel change(Connection connection, String id, ChannelRequest request)
      throws SQLException {
    Channel old =
        LOCK.with("id", id).first(connection, Channel::read).orElseThrow(() -> absent(id));
    ChannelState state = or(request.state(), old.state());
    UPDATE
        .with("id", id)
        .with("name", or(request.name(), old.name()))
        .with("recipients", array(or(request.recipients(), old.recipients())))
        .with("url", or(request.url(), old.url()))
        .with("agents", array(or(request.agents(), old.agents())))
        .with("types", array(or(request.eventTypes(), old.eventTypes())))
        .with("interval", or(request.minIntervalSeconds(), old.minIntervalSeconds()))
        .with("zone", or(request.timeZone(), old.quietTimes().zone().getId()))
        .with("quiet", Channel.json(or(request.quietTimes(), old.quietTimes().periods())))
        .with("state", state)
        .with("now", clock.instant())
        .list(connection, Channel::read);
    if (state == ChannelState.DISABLED) {
      FORGET.with("id", id).update(connection);
      DROP.with("id", id).update(connection);
    }
    return withLatest(connection, GET.with("id", id).list(connection, Channel::read)).get(0);
  }

  /**
   * @throws Problem not_found
   */
  void delete(String id) {
    if (database.withoutDeadlock(connection -> DELETE.with("id", id).update(connection)) == 0) {
      throw absent(id);
    }
  }

  static Problem absent(String id) {
    return Problem.notFound("notification channel", id);
  }

  private static String[] array(List<String> list) {
    return list.toArray(String[]::new);
  }

  private static <T> T or(T given, T other) {
    return Optional.ofNullable(given).orElse(other);
  }
}
