package dev.roost.webhook;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A receiver's subscription to events.
 *
 * @param agentId only events of this agent; null: of all agents
 * @param previousSecret also signs until its expiry; null: there is none
 * @param message why Roost has disabled the webhook, or null
 */
record Webhook(
    String id,
    String url,
    String description,
    List<String> eventTypes,
    String agentId,
    String secret,
    String previousSecret,
    Instant previousSecretUntil,
    WebhookState state,
    String message,
    Instant createdAt,
    Instant updatedAt) {

  static Webhook read(ResultSet row) throws SQLException {
    return new Webhook(
        row.getString("id"),
        row.getString("url"),
        row.getString("description"),
        strings(row.getArray("event_types")),
        row.getString("agent_id"),
        row.getString("secret"),
        row.getString("previous_secret"),
        Sql.instant(row, "previous_secret_until"),
        Code.parse(WebhookState.class, row.getString("state")),
        row.getString("message"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"));
  }

  private static List<String> strings(Array array) throws SQLException {
    return List.of((String[]) array.getArray());
  }

  /** Omits the secrets, which must not get into logs. */
  @Override
  public String toString() {
    return "webhook " + id;
  }

  /** A webhook in the API. */
  @Schema(name = "Webhook")
  record View(
      @Schema(examples = "hook_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
      @Schema(description = "The URL that receives the deliveries") String url,
      @Schema(description = "A description; may be empty") String description,
      @Schema(
              description =
                  "The events to deliver: a type, all types of a resource (execution.*), or * for all",
              examples = "[\"execution.failed\", \"builder_job.*\"]")
          List<String> eventTypes,
      @Schema(
              nullable = true,
              description = "The agent whose events are delivered; null for all agents")
          String agentId,
      @Schema(description = "disabled: nothing is sent, and pending deliveries wait")
          WebhookState state,
      @Schema(nullable = true, description = "Why it is disabled; null if it is active")
          String message,
      @Schema(description = "Only in the response to its creation or change")
          @JsonInclude(JsonInclude.Include.NON_NULL)
          String secret,
      Instant createdAt,
      Instant updatedAt) {
    static View of(Webhook webhook) {
      return of(webhook, null);
    }

    static View withSecret(Webhook webhook) {
      return of(webhook, webhook.secret);
    }

    private static View of(Webhook webhook, String secret) {
      return new View(
          webhook.id,
          webhook.url,
          webhook.description,
          webhook.eventTypes,
          webhook.agentId,
          webhook.state,
          webhook.message,
          secret,
          webhook.createdAt,
          webhook.updatedAt);
    }
  }
}
