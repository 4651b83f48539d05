package dev.roost.webhook;

import io.vertx.core.Vertx;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * As the product's, but some receivers get little time: those that hang, so that tests don't take
 * long. All others get what the setting says, and no pause of the machine makes them late.
 */
@Singleton
class TestSender extends WebhookSender {
  /** How the URL of a receiver ends that gets little time. */
  static final String HURRIED = "/hurried";

  static final Duration LITTLE = Duration.ofSeconds(2);

  private final WebhookSender hurried;

  TestSender(Vertx vertx, Resolver resolver, Addresses addresses, WebhookSettings settings) {
    super(vertx, resolver, addresses, settings.timeout(), null);
    hurried = new WebhookSender(vertx, resolver, addresses, LITTLE, null);
  }

  @Override
  public CompletionStage<EndpointResponse> send(Message message) {
    return message.url().endsWith(HURRIED) ? hurried.send(message) : super.send(message);
  }

  @Override
  void stop() {
    super.stop();
    hurried.stop();
  }
}
