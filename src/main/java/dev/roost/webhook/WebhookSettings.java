package dev.roost.webhook;

import dev.roost.config.RoostConfig;
import io.quarkus.arc.DefaultBean;
import io.vertx.core.Vertx;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;

/** The operator's settings for webhooks, checked. */
@ApplicationScoped
class WebhookSettings {
  private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);
  private static final Duration MOST_TIMEOUT = Duration.ofSeconds(60);

  private final RoostConfig.Webhooks settings;

  WebhookSettings(RoostConfig config) {
    this.settings = config.webhooks();
    if (timeout().compareTo(LEAST_TIMEOUT) < 0 || timeout().compareTo(MOST_TIMEOUT) > 0) {
      throw new IllegalStateException(
          "roost.webhooks.timeout must be from 0.1 to 60 seconds, not " + timeout());
    }
  }

  /** The timeout of a whole attempt. */
  Duration timeout() {
    return settings.timeout();
  }

  @Produces
  @Singleton
  Addresses addresses() {
    return new Addresses(settings.allowedNetworks().orElse(List.of()));
  }

  @Produces
  @Singleton
  @DefaultBean // Tests provide another one.
  WebhookSender sender(Vertx vertx, Resolver resolver, Addresses addresses) {
    return new WebhookSender(vertx, resolver, addresses, timeout(), null);
  }
}
