package dev.roost.notification;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.roost.webhook.EndpointResponse;
import dev.roost.webhook.WebhookSender;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Sends messages to incoming webhooks of Slack, and of programs that understand its format. */
@ApplicationScoped
class SlackSender {
  private final WebhookSender sender;

  SlackSender(WebhookSender sender) {
    this.sender = sender;
  }

  /** Never fails: the result describes failures, without the URL. */
  CompletionStage<SendResult> send(Channel channel, Composer.Composed message) {
    String body =
        JsonNodeFactory.instance
            .objectNode()
            .put("text", message.slack())
            .put("unfurl_links", false)
            .toString();
    return sender
        .send(
            new WebhookSender.Message(
                channel.url(),
                Map.of("Content-Type", "application/json", "User-Agent", "Roost"),
                body.getBytes(StandardCharsets.UTF_8)))
        .thenApply(response -> result(channel, response));
  }

  private static SendResult result(Channel channel, EndpointResponse response) {
    if (response.succeeded()) {
      return SendResult.succeeded();
    }
    // Slack refuses removed webhooks and channels with 403, 404 and 410.
    Integer status = response.status();
    boolean permanent =
        status != null && status >= 400 && status < 500 && status != 408 && status != 429;
    return new SendResult(
        channel.withoutSecret(response.message()), false, permanent, response.retryAfter());
  }
}
