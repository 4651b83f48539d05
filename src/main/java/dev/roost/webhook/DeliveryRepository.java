package dev.roost.webhook;

import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Deliveries in the database, with their results.
 *
 * <p>A delivery that waits for an earlier one of its subject is parked: it has no time for its next
 * attempt, so queries for due deliveries skip it. The leader parks the delivery when it is first
 * found, and sets its time when the earlier one has ended, one action after the other. If both
 * happen at once, because a former leader was late to notice its loss, {@link #sweep} corrects the
 * result.
 */
@ApplicationScoped
class DeliveryRepository {
  static final String TEST = "webhook.test";

  /** How many due deliveries of a webhook are checked in a pass. */
  private static final int LOOK = 100;

  private static final String CAPACITIES =
      """
      capacity as (
        select w.id, coalesce(b.capacity, %d) as capacity, coalesce(b.slow, false) as slow
        from webhook w left join unnest(:webhooks, :capacities, :slow) as b(id, capacity, slow) on b.id = w.id
        where w.state = 'active' and coalesce(b.capacity, %d) > 0)"""
          .formatted(Slots.EACH, Slots.EACH);

  /** The first of each webhook before the second of any. */
  private static final Sql CLAIM =
      Sql.of(
          """
          with %s,
          due as (
            select d.*, r.capacity, r.slow from capacity r cross join lateral (
              select d.id, d.webhook_id, d.position, d.next_attempt_at, exists (
                  select 1 from webhook_delivery b
                  where b.webhook_id = d.webhook_id and b.subject = d.subject and b.state = 'pending'
                    and b.position < d.position) as blocked
              from webhook_delivery d
              where d.webhook_id = r.id and d.state = 'pending' and d.next_attempt_at <= now()
                and d.id <> all(:sending)
              order by d.next_attempt_at, d.position limit %d) d),
          parked as (
            update webhook_delivery d set next_attempt_at = null from due
            where d.id = due.id and due.blocked and d.state = 'pending' and d.next_attempt_at = due.next_attempt_at),
          ranked as (
            select *, row_number() over (partition by webhook_id order by next_attempt_at, position) as turn
            from due where not blocked),
          chosen as (
            select id, next_attempt_at from (
              select *, row_number() over (partition by slow order by turn, next_attempt_at) as of_slow
              from ranked where turn <= capacity) fair
            where not slow or of_slow <= :slowLimit
            order by turn, next_attempt_at limit :limit),
          claimed as (
            update webhook_delivery d set attempts = d.attempts + 1,
              next_attempt_at = now() + :lease * interval '1 second',
              give_up_at = coalesce(d.give_up_at, now() + :retrySeconds * interval '1 second')
            from chosen c
            where d.id = c.id and d.state = 'pending' and d.next_attempt_at = c.next_attempt_at
            returning d.*)
          select c.id, c.webhook_id, c.event_type, c.subject, c.position, c.attempts,
            extract(epoch from c.give_up_at - now())::float8 as untried, w.url, w.secret,
            case when w.previous_secret_until > now() then w.previous_secret end as previous_secret, e.time, e.data
          from claimed c join webhook w on w.id = c.webhook_id left join event e on e.position = c.position
          order by c.position"""
              .formatted(CAPACITIES, LOOK));

  private static final Sql NEXT =
      Sql.of(
          """
          with %s
          select extract(epoch from min(d.next_attempt_at) - clock_timestamp())::float8 as seconds
          from capacity r cross join lateral (
            select d.next_attempt_at from webhook_delivery d
            where d.webhook_id = r.id and d.state = 'pending' and d.next_attempt_at is not null
              and d.id <> all(:sending)
            order by d.next_attempt_at limit 1) d
          where not r.slow or :slowLimit > 0"""
              .formatted(CAPACITIES));

  private static final Sql SETTLE =
      Sql.of(
          """
          with settled as (
            update webhook_delivery d set state = o.state, next_attempt_at = now() + o.pause * interval '1 second',
              finished_at = case when o.state <> 'pending' then now() end
            from unnest(:ids, :attempts, :states, :pauses, :ages, :durations, :statuses, :messages)
              as o(id, attempt, state, pause, age, duration, status, message)
            where d.id = o.id and d.state = 'pending' and d.attempts = o.attempt
            returning d.webhook_id, d.subject, o.*),
          noted as (
            insert into webhook_attempt (delivery_id, attempt, started_at, duration_seconds, status, message)
            select id, attempt, now() - age * interval '1 second', duration, status, message from settled
            on conflict do nothing)
          select id, webhook_id, subject from settled""");

  private static final Sql RELEASE =
      Sql.of(
          """
          update webhook_delivery d set next_attempt_at = now()
          from (select distinct webhook_id, subject from unnest(:webhooks, :subjects) as f(webhook_id, subject)) f
          cross join lateral (
            select n.id from webhook_delivery n
            where n.webhook_id = f.webhook_id and n.subject = f.subject and n.state = 'pending'
            order by n.position limit 1) first
          where d.id = first.id and d.next_attempt_at is null""");

  private static final Sql DISABLE =
      Sql.of(
          """
          update webhook set state = 'disabled', message = :message where id = :id and state = 'active'""");

  /**
   * Uses an array: otherwise the planner expects few rows, and repeats the subquery for each row.
   */
  static final Sql SWEEP =
      Sql.of(
          """
          update webhook_delivery d set next_attempt_at = now()
          where d.state = 'pending' and d.next_attempt_at is null and d.id = any(array(
            select first.id from (
              select distinct on (p.webhook_id, p.subject) p.id, p.next_attempt_at
              from webhook w join webhook_delivery p on p.webhook_id = w.id and p.state = 'pending'
              where w.state = 'active'
              order by p.webhook_id, p.subject, p.position) first
            where first.next_attempt_at is null))""");

  /** Statements that run often, however many deliveries wait. */
  static final List<Sql> OFTEN = List.of(CLAIM, NEXT, SETTLE, RELEASE);

  private static final Sql INSTALLATION =
      Sql.of("select value from setting where name = 'installation'");

  private final Database database;
  private volatile String installation;

  DeliveryRepository(Database database) {
    this.database = database;
  }

  /**
   * The result of an attempt.
   *
   * @param age time since the start of the attempt, when the result is stored
   */
  record Outcome(
      Claim claim, EndpointResponse answer, Verdict verdict, Duration age, Duration duration) {}

  /**
   * Claims due deliveries, and parks those that must wait for an earlier one.
   *
   * @param sending deliveries to skip
   * @param lease after which others may claim the deliveries
   */
  List<Claim> claim(Slots slots, Collection<String> sending, Duration lease) {
    String installation = installation();
    Sql.Bound claim =
        withCapacities(CLAIM.with("limit", slots.capacity()), slots, sending)
            .with("lease", seconds(lease))
            .with("retrySeconds", seconds(Retries.PERIOD));
    return database.once(
        connection -> claim.list(connection, row -> Claim.read(row, installation)));
  }

  /** The time until the next delivery is due that has a free slot; zero or less: one is due now. */
  Optional<Duration> next(Slots slots, Collection<String> sending) {
    Sql.Bound next = withCapacities(NEXT.with(), slots, sending);
    return database.once(
        connection ->
            next.first(
                    connection, row -> Optional.ofNullable(row.getObject("seconds", Double.class)))
                .orElseThrow()
                .map(seconds -> Duration.ofMillis((long) Math.ceil(1_000 * seconds))));
  }

  private static Sql.Bound withCapacities(
      Sql.Bound statement, Slots slots, Collection<String> sending) {
    List<Slots.Capacity> capacities = slots.capacities();
    return statement
        .with("webhooks", capacities.stream().map(Slots.Capacity::webhookId).toArray(String[]::new))
        .with(
            "capacities",
            capacities.stream().map(capacity -> (long) capacity.requests()).toArray(Long[]::new))
        .with("slow", capacities.stream().map(Slots.Capacity::slow).toArray(Boolean[]::new))
        .with("slowLimit", slots.slowCapacity())
        .with("sending", sending.toArray(String[]::new));
  }

  /**
   * Stores the results of attempts in one transaction. Skips deliveries that were claimed again or
   * deleted meanwhile.
   *
   * @return the webhooks that were disabled
   */
  List<String> settle(List<Outcome> outcomes) {
    return database.inTransaction(connection -> settle(connection, outcomes));
  }

  private List<String> settle(Connection connection, List<Outcome> outcomes) throws SQLException {
    record Settled(String id, String webhookId, String subject) {
      static Settled read(ResultSet row) throws SQLException {
        return new Settled(
            row.getString("id"), row.getString("webhook_id"), row.getString("subject"));
      }
    }
    List<Settled> settled =
        SETTLE
            .with("ids", strings(outcomes, o -> o.claim().deliveryId()))
            .with("attempts", longs(outcomes, o -> (long) o.claim().attempt()))
            .with("states", strings(outcomes, o -> o.verdict().state().code()))
            .with("pauses", doubles(outcomes, o -> seconds(o.verdict().pause())))
            .with("ages", doubles(outcomes, o -> seconds(o.age())))
            .with("durations", doubles(outcomes, o -> seconds(o.duration())))
            .with("statuses", longs(outcomes, o -> number(o.answer().status())))
            .with("messages", strings(outcomes, o -> o.answer().message()))
            .list(connection, Settled::read);
    RELEASE
        .with("webhooks", strings(settled, Settled::webhookId))
        .with("subjects", strings(settled, Settled::subject))
        .update(connection);
    List<String> disabled = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      String id = outcome.claim().webhookId();
      if (outcome.verdict().disabled() != null
          && settled.stream().anyMatch(s -> s.id().equals(outcome.claim().deliveryId()))
          && DISABLE.with("id", id).with("message", outcome.verdict().disabled()).update(connection)
              == 1) {
        disabled.add(id);
      }
    }
    return disabled;
  }

  /** Corrects parked deliveries without an earlier one to wait for. */
  void sweep() {
    database.once(connection -> SWEEP.with().update(connection));
  }

  /** Identifies this installation. */
  String installation() {
    if (installation == null) {
      installation =
          database.once(
              connection ->
                  INSTALLATION
                      .with()
                      .first(connection, row -> row.getString("value"))
                      .orElseThrow());
    }
    return installation;
  }

  private static <T> String[] strings(List<T> list, Function<T, String> value) {
    return list.stream().map(value).toArray(String[]::new);
  }

  private static <T> Long[] longs(List<T> list, Function<T, Long> value) {
    return list.stream().map(value).toArray(Long[]::new);
  }

  private static <T> Double[] doubles(List<T> list, Function<T, Double> value) {
    return list.stream().map(value).toArray(Double[]::new);
  }

  private static Long number(Integer value) {
    return value == null ? null : value.longValue();
  }

  private static Double seconds(Duration duration) {
    return duration == null ? null : duration.toNanos() / 1e9;
  }
}
