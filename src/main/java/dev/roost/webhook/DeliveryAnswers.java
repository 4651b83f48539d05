package dev.roost.webhook;

import dev.roost.api.Cursor;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Optional;

/** Serves deliveries to clients, and replays them on request. */
@ApplicationScoped
class DeliveryAnswers {
  /** How many positions a transaction checks. */
  private static final long STEP = 10_000;

  private static final String SELECT =
      """
      select d.*, a.status, a.message
      from webhook_delivery d left join lateral (
        select a.status, a.message from webhook_attempt a where a.delivery_id = d.id
        order by a.attempt desc limit 1) a on true\s""";

  private static final Sql LIST =
      Sql.of(
          SELECT
              + """
              where d.webhook_id = :webhook and d.position < :before
                and (cast(:state as text) is null or d.state = :state)
                and (cast(:type as text) is null or d.event_type = :type)
              order by d.position desc limit :limit""");

  private static final Sql GET =
      Sql.of(SELECT + "where d.webhook_id = :webhook and d.id = :delivery");

  private static final Sql TESTED =
      Sql.of(
          SELECT
              + """
              join event e on e.position = d.position
              where d.webhook_id = :webhook and d.position > :after and d.event_type = 'webhook.test'
                and e.data = :data""");

  private static final Sql LOG =
      Sql.of("select * from webhook_attempt where delivery_id = :delivery order by attempt");

  private static final Sql EVENT =
      Sql.of(
          """
          select d.position, d.event_type, d.subject, e.time, e.data
          from webhook_delivery d join event e on e.position = d.position where d.id = :delivery""");

  private static final Sql AGAIN =
      Sql.of(
          """
          update webhook_delivery d set state = 'pending', next_attempt_at = now(), give_up_at = null,
            finished_at = null
          where d.webhook_id = :webhook and d.id = :delivery
            and exists (select 1 from event e where e.position = d.position)""");

  private static final Sql MISSED =
      Sql.of(
          """
          select e.position, e.type, e.subject, w.id as webhook_id
          from event e join webhook w on w.id = :webhook and e.type <> 'webhook.test' and %s
          where e.position > :after and e.position <= :last
          order by e.position for key share of w"""
              .formatted(Placement.SUBSCRIBED));

  private final Database database;
  private final Webhooks webhooks;
  private final DeliveryRepository book;
  private final EventLog log;

  DeliveryAnswers(Database database, Webhooks webhooks, DeliveryRepository book, EventLog log) {
    this.database = database;
    this.webhooks = webhooks;
    this.book = book;
    this.log = log;
  }

  /**
   * The latest events first.
   *
   * @throws Problem not_found, validation_failed
   */
  Page<Delivery.View> page(
      String webhookId, String state, String eventType, String cursor, int limit) {
    webhooks.get(webhookId);
    Long before = Cursor.number("delivery", cursor);
    Sql.Bound select =
        LIST.with("webhook", webhookId)
            .with("before", before == null ? Long.MAX_VALUE : before)
            .with("state", state)
            .with("type", eventType)
            .with("limit", limit + 1);
    List<Delivery.View> views =
        database.once(connection -> select.list(connection, Delivery.View::read));
    return Page.of(views, limit, view -> Cursor.of("delivery", view.eventId()), view -> view);
  }

  /**
   * A delivery with its attempts and its body.
   *
   * @throws Problem not_found
   */
  Delivery.View get(String webhookId, String deliveryId) {
    Sql.Bound get = GET.with("webhook", webhookId).with("delivery", deliveryId);
    return complete(get).orElseThrow(() -> Problem.notFound("delivery", deliveryId));
  }

  /** In one snapshot, so that the last attempt is the one the delivery speaks of. */
  private Optional<Delivery.View> complete(Sql.Bound select) {
    String installation = book.installation();
    return database.read(
        connection -> {
          Delivery.View view = select.first(connection, Delivery.View::read).orElse(null);
          if (view == null) {
            return Optional.empty();
          }
          return Optional.of(
              view.with(
                  LOG.with("delivery", view.id()).list(connection, Delivery.AttemptView::read),
                  EVENT
                      .with("delivery", view.id())
                      .first(connection, row -> Claim.event(row, installation))
                      .map(event -> new JsonText(event.json()))
                      .orElse(null)));
        });
  }

  /** A requested test: the event is after the position and has the data. */
  record Test(String webhookId, long after, String data) {}

  /**
   * @throws Problem not_found; conflict: the webhook is disabled
   */
  Test test(String webhookId) {
    if (webhooks.get(webhookId).state() == WebhookState.DISABLED) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "The webhook is disabled; enable it first: PATCH with {\"state\": \"active\"}.");
    }
    long after = log.latest();
    String data = "{\"id\":\"%s\",\"test_id\":\"%s\"}".formatted(webhookId, Ids.next("test"));
    database.once(
        connection -> {
          EventLog.note(connection, DeliveryRepository.TEST, webhookId, null, data);
          return null;
        });
    return new Test(webhookId, after, data);
  }

  /** The delivery of a test, once it exists. */
  Optional<Delivery.View> tested(Test test) {
    Sql.Bound select =
        TESTED
            .with("webhook", test.webhookId())
            .with("after", test.after())
            .with("data", test.data());
    return complete(select);
  }

  /**
   * Makes a delivery pending again.
   *
   * @throws Problem not_found; gone: its event was removed
   */
  Delivery.View again(String webhookId, String deliveryId) {
    Sql.Bound again = AGAIN.with("webhook", webhookId).with("delivery", deliveryId);
    int changed = database.once(again::update);
    Delivery.View view = get(webhookId, deliveryId);
    if (changed == 0) {
      throw Problem.of(
          ErrorCode.GONE, "The event of this delivery has been deleted, so it cannot be resent.");
    }
    return view;
  }

  /**
   * Creates missing deliveries of events, and makes failed ones pending again.
   *
   * @param after a position
   * @return how many
   * @throws Problem not_found; gone: events after that position were removed; validation_failed
   */
  long again(String webhookId, long after) {
    webhooks.get(webhookId);
    long last = log.latest();
    if (after > last) {
      throw Problem.invalid(
          "/after",
          "out_of_range",
          "There is no event " + after + " yet; the latest is " + last + ".");
    }
    long from = log.begin(after);
    long created = 0;
    for (long position = from; position < last; position += STEP) {
      Sql.Bound missed =
          MISSED
              .with("webhook", webhookId)
              .with("after", position)
              .with("last", Math.min(last, position + STEP));
      created +=
          database.inTransaction(
              connection -> {
                List<Placement.Pair> pairs = missed.list(connection, Placement.Pair::read);
                return pairs.isEmpty() ? 0 : Placement.again(connection, pairs);
              });
    }
    return created;
  }

  /**
   * @param where the parameter, for the message
   * @throws Problem validation_failed
   */
  static long position(String where, String text) {
    if (!text.matches("\\d{1,18}")) {
      throw Problem.invalid(
          where, "wrong_type", "A position in the log of events must be a number.");
    }
    return Long.parseLong(text);
  }
}
