package dev.roost.webhook;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;

/** Creates deliveries of events in the transaction that assigns the events' positions. */
@ApplicationScoped
class Placement implements EventLog.Follower {
  /** Events e and webhooks w that subscribe to them; a test is for one webhook only. */
  static final String SUBSCRIBED =
      """
      case when e.type = 'webhook.test' then w.id = e.subject
        else (w.agent_id is null or w.agent_id = e.agent_id)
          and w.event_types && array['*', e.type, split_part(e.type, '.', 1) || '.*'] end""";

  /** The lock prevents the deletion of a webhook before its deliveries are stored. */
  private static final Sql SELECT =
      Sql.of(
          """
          select e.position, e.type, e.subject, w.id as webhook_id
          from event e join webhook w on w.state = 'active' and %s
          where e.position >= :first and e.position <= :last
          order by e.position, w.id for key share of w"""
              .formatted(SUBSCRIBED));

  private static final String INSERT =
      """
      insert into webhook_delivery
        (id, webhook_id, position, event_type, subject, state, next_attempt_at, created_at)
      select id, webhook_id, position, event_type, subject, 'pending', now(), now()
      from unnest(:ids, :webhooks, :positions, :types, :subjects)
        as d(id, webhook_id, position, event_type, subject)
      on conflict (webhook_id, position) do\s""";

  private static final Sql MAKE = Sql.of(INSERT + "nothing");

  private static final Sql MAKE_AGAIN =
      Sql.of(
          INSERT
              + """
              update set state = 'pending', next_attempt_at = now(), give_up_at = null, finished_at = null
              where webhook_delivery.state = 'failed'""");

  /** An event for a webhook. */
  record Pair(long position, String type, String subject, String webhookId) {
    static Pair read(ResultSet row) throws SQLException {
      return new Pair(
          row.getLong("position"),
          row.getString("type"),
          row.getString("subject"),
          row.getString("webhook_id"));
    }
  }

  @Override
  public void placed(Connection connection, long first, long last) throws SQLException {
    List<Pair> pairs = SELECT.with("first", first).with("last", last).list(connection, Pair::read);
    if (!pairs.isEmpty()) {
      insert(MAKE, connection, pairs);
    }
  }

  /**
   * Creates missing deliveries, and makes failed ones pending again.
   *
   * @return how many
   */
  static int again(Connection connection, List<Pair> pairs) throws SQLException {
    return insert(MAKE_AGAIN, connection, pairs);
  }

  private static int insert(Sql statement, Connection connection, List<Pair> pairs)
      throws SQLException {
    return statement
        .with("ids", pairs.stream().map(pair -> Ids.next("dlv")).toArray(String[]::new))
        .with("webhooks", strings(pairs, Pair::webhookId))
        .with("positions", pairs.stream().map(Pair::position).toArray(Long[]::new))
        .with("types", strings(pairs, Pair::type))
        .with("subjects", strings(pairs, Pair::subject))
        .update(connection);
  }

  private static String[] strings(List<Pair> pairs, Function<Pair, String> value) {
    return pairs.stream().map(value).toArray(String[]::new);
  }
}
