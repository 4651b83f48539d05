package dev.roost.url;

import dev.roost.api.Body;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.util.HexFormat;
import java.util.Optional;

/** What makes a redelivery recognizable: the Idempotency-Key of the job of a request. */
final class DeliveryKey {
  private static final int MOST_CHARACTERS = 200;

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
        .orElse(null);
  }

  /** What all requests with that key have to have in common: everything but the headers. */
  static String content(RunRequest request) {
    return String.join(
        "\n",
        request.method(),
        request.path(),
        String.valueOf(request.query()),
        HexFormat.of().formatHex(Text.sha256(request.body())));
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
