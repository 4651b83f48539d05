package dev.roost.webhook;

import dev.roost.api.Ids;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The webhooks in the database. */
@ApplicationScoped
class Webhooks {
  /** How long the previous secret also signs. */
  private static final Duration OVERLAP = Duration.ofHours(24);

  private static final String BY_REQUEST = "it was disabled by a request";

  private static final Sql INSERT =
      Sql.of(
          """
          insert into webhook (id, url, description, event_types, agent_id, secret, state, created_at, updated_at)
          values (:id, :url, :description, :types, cast(:agent as text), :secret, 'active', :now, :now)
          returning *""");

  private static final Sql LIST =
      Sql.of("select * from webhook where id < :before order by id desc limit :limit");

  private static final Sql GET = Sql.of("select * from webhook where id = :id");

  private static final Sql LOCK = Sql.of("select * from webhook where id = :id for no key update");

  private static final Sql UPDATE =
      Sql.of(
          """
          update webhook set url = :url, description = :description, event_types = :types,
            agent_id = cast(:agent as text), secret = :secret, previous_secret = cast(:previous as text),
            previous_secret_until = cast(:until as timestamptz), state = :state, message = cast(:message as text),
            updated_at = :now
          where id = :id
          returning *""");

  /**
   * Restarts pending deliveries: the time limit starts again, without the disabled time, and the
   * next claims restore the order.
   */
  private static final Sql RESUME =
      Sql.of(
          """
          update webhook_delivery set give_up_at = null, next_attempt_at = now()
          where webhook_id = :id and state = 'pending'""");

  private static final Sql DELETE = Sql.of("delete from webhook where id = :id");

  private final Database database;
  private final Clock clock;

  Webhooks(Database database, Clock clock) {
    this.database = database;
    this.clock = clock;
  }

  Webhook make(WebhookRequest request) {
    String description = request.description() == null ? "" : request.description();
    List<String> types = request.eventTypes() == null ? List.of("*") : request.eventTypes();
    Sql.Bound insert =
        INSERT
            .with("id", Ids.next("hook"))
            .with("url", request.url())
            .with("description", description)
            .with("types", types.toArray(String[]::new))
            .with("agent", request.agentId())
            .with("secret", request.secret() == null ? Secret.make() : request.secret())
            .with("now", clock.instant());
    return database.once(connection -> insert.first(connection, Webhook::read).orElseThrow());
  }

  /** Newest first. */
  Page<Webhook.View> page(String cursor, int limit) {
    Sql.Bound select =
        LIST.with("before", cursor == null ? "hook_~" : cursor).with("limit", limit + 1);
    List<Webhook> webhooks = database.once(connection -> select.list(connection, Webhook::read));
    return Page.of(webhooks, limit, Webhook::id, Webhook.View::of);
  }

  /**
   * @throws Problem not_found
   */
  Webhook get(String id) {
    return database
        .once(connection -> GET.with("id", id).first(connection, Webhook::read))
        .orElseThrow(() -> absent(id));
  }

  /**
   * @throws Problem not_found
   */
  Webhook change(String id, WebhookRequest request) {
    return database.inTransaction(connection -> change(connection, id, request));
  }

  private Webhook change(Connection connection, String id, WebhookRequest request)
      throws SQLException {
    Webhook old =
        LOCK.with("id", id).first(connection, Webhook::read).orElseThrow(() -> absent(id));
    Instant now = clock.instant();
    String secret = request.rotateSecret() ? Secret.make() : or(request.secret(), old.secret());
    boolean sameSecret = secret.equals(old.secret());
    WebhookState state = or(request.state(), old.state());
    boolean sameState = state == old.state();
    Webhook changed =
        UPDATE
            .with("id", id)
            .with("url", or(request.url(), old.url()))
            .with("description", or(request.description(), old.description()))
            .with("types", or(request.eventTypes(), old.eventTypes()).toArray(String[]::new))
            .with("agent", request.anyAgent() ? null : or(request.agentId(), old.agentId()))
            .with("secret", secret)
            .with("previous", sameSecret ? old.previousSecret() : old.secret())
            .with("until", sameSecret ? old.previousSecretUntil() : now.plus(OVERLAP))
            .with("state", state)
            .with("message", sameState ? old.message() : message(state))
            .with("now", now)
            .first(connection, Webhook::read)
            .orElseThrow();
    if (!sameState && state == WebhookState.ACTIVE) {
      RESUME.with("id", id).update(connection);
    }
    return changed;
  }

  /**
   * @throws Problem not_found
   */
  void delete(String id) {
    // Deletes its deliveries, too, which are locked in other orders when they are sent.
    int deleted = database.withoutDeadlock(connection -> DELETE.with("id", id).update(connection));
    if (deleted == 0) {
      throw absent(id);
    }
  }

  static Problem absent(String id) {
    return Problem.notFound("webhook", id);
  }

  private static String message(WebhookState state) {
    return state == WebhookState.ACTIVE ? null : BY_REQUEST;
  }

  private static <T> T or(T given, T old) {
    return Optional.ofNullable(given).orElse(old);
  }
}
