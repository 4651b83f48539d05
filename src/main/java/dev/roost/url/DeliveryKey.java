package dev.roost.url;

import dev.roost.api.Body;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/** What makes a redelivery recognizable: the Idempotency-Key of the job of a request. */
final class DeliveryKey {
  private static final int MOST_CHARACTERS = 200;

  /**
   * Senders that number their events in the body alone: the header that they sign with, and the
   * member with the number. Delivered again, the other members may differ, such as {@code
   * pending_webhooks} of Stripe.
   */
  private static final Map<String, String> NUMBERED_IN_BODY =
      Map.of("Stripe-Signature", "id", "X-Slack-Signature", "event_id");

  private DeliveryKey() {}

  /**
   * The request's own Idempotency-Key or, without one, what senders of webhooks and events number
   * their deliveries with.
   *
   * @return null: a repeated request is another one
   * @throws Problem validation_failed
   */
  static String of(RunRequest request) {
    String given = request.header("Idempotency-Key");
    if (given != null) {
      IdempotencyKey.check(given);
      return Text.storable(given);
    }
    return delivery(request, "webhook-id")
        .or(() -> delivery(request, "X-GitHub-Delivery"))
        .or(() -> event(request))
        .or(() -> numberInBody(request))
        .orElse(null);
  }

  /** What all requests with that key have to have in common: everything but the headers. */
  static String content(RunRequest request) {
    Optional<String> number =
        request.header("Idempotency-Key") == null ? numberInBody(request) : Optional.empty();
    return String.join(
        "\n",
        request.method(),
        request.path(),
        String.valueOf(request.query()),
        number.orElseGet(() -> HexFormat.of().formatHex(Text.sha256(request.body()))));
  }

  private static Optional<String> numberInBody(RunRequest request) {
    return NUMBERED_IN_BODY.entrySet().stream()
        .filter(sender -> request.header(sender.getKey()) != null)
        .findFirst()
        .flatMap(sender -> member(request, sender.getValue()));
  }

  private static Optional<String> member(RunRequest request, String name) {
    try {
      return Body.parse(request.body()).anyString(name).map(id -> bounded(name + ": " + id));
    } catch (Problem e) {
      return Optional.empty(); // A form, for example; whoever reads it says what is wrong with it.
    }
  }

  private static Optional<String> delivery(RunRequest request, String header) {
    String value = request.header(header);
    return value == null || value.isBlank()
        ? Optional.empty()
        : Optional.of(bounded(header + ": " + value));
  }

  /** Source and identifier together are unique. */
  private static Optional<String> event(RunRequest request) {
    if (ReceivedEvent.isBinary(request)) {
      return event(
          ReceivedEvent.attribute(request, "source"), ReceivedEvent.attribute(request, "id"));
    }
    if (!request.mediaType().equals(ReceivedEvent.STRUCTURED)) {
      return Optional.empty();
    }
    Body body = Body.parse(request.body());
    return event(body.anyString("source"), body.anyString("id"));
  }

  private static Optional<String> event(Optional<String> source, Optional<String> id) {
    return source.flatMap(from -> id.map(name -> bounded("event: " + from + " " + name)));
  }

  private static String bounded(String key) {
    return key.length() <= MOST_CHARACTERS && Text.unstorable(key).isEmpty()
        ? key
        : HexFormat.of().formatHex(Text.sha256(key));
  }
}
