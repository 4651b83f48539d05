package dev.roost.webhook;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.roost.api.JsonText;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** An event that was sent, or will be sent, to a webhook. */
final class Delivery {
  private Delivery() {}

  /** A delivery in the API. */
  @Schema(name = "Delivery")
  record View(
      @Schema(examples = "dlv_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
      @Schema(description = "The webhook that it is for") String webhookId,
      @Schema(description = "The event's position in the log of events") String eventId,
      @Schema(description = "The event's type", examples = "execution.failed") String eventType,
      @Schema(
              description =
                  "The identifier of what has changed; deliveries of one subject are sent in their order")
          String subject,
      @Schema(
              enumeration = {"pending", "succeeded", "failed"},
              description = "pending: it is to be sent, or sent again; failed: it is tried no more")
          String state,
      @Schema(description = "Attempts that were begun") int attempts,
      @Schema(
              nullable = true,
              description =
                  "When it is tried next; null: it is not pending, or waits for an earlier delivery of its subject")
          Instant nextAttemptAt,
      Instant createdAt,
      @Schema(nullable = true, description = "When it succeeded or failed; null: it is pending")
          Instant finishedAt,
      @Schema(
              nullable = true,
              description =
                  "HTTP status of the last attempt; null: there was no answer, or no attempt has ended")
          Integer status,
      @Schema(
              nullable = true,
              description =
                  "Why the last attempt did not succeed; null: it did, or no attempt has ended")
          String message,
      @Schema(description = "Only when one delivery is retrieved: its attempts, oldest first")
          @JsonInclude(JsonInclude.Include.NON_NULL)
          List<AttemptView> attemptsLog,
      @Schema(
              description =
                  "Only when one delivery is retrieved, while its event is kept: the body that is sent")
          @JsonInclude(JsonInclude.Include.NON_NULL)
          JsonText request) {
    static View read(ResultSet row) throws SQLException {
      return new View(
          row.getString("id"),
          row.getString("webhook_id"),
          row.getString("position"),
          row.getString("event_type"),
          row.getString("subject"),
          row.getString("state"),
          row.getInt("attempts"),
          Sql.instant(row, "next_attempt_at"),
          Sql.instant(row, "created_at"),
          Sql.instant(row, "finished_at"),
          row.getObject("status", Integer.class),
          row.getString("message"),
          null,
          null);
    }

    View with(List<AttemptView> log, JsonText body) {
      return new View(
          id,
          webhookId,
          eventId,
          eventType,
          subject,
          state,
          attempts,
          nextAttemptAt,
          createdAt,
          finishedAt,
          status,
          message,
          log,
          body);
    }

    /** Whether an attempt has a result. */
    boolean wasTried() {
      return finishedAt != null || status != null || message != null;
    }
  }

  /** One attempt in the API. */
  @Schema(name = "DeliveryAttempt")
  record AttemptView(
      @Schema(description = "From 1; one that Roost did not see end is left out") int attempt,
      @Schema(description = "When the request was begun") Instant startedAt,
      @Schema(description = "Seconds") double duration,
      @Schema(nullable = true, description = "HTTP status; null: there was no answer")
          Integer status,
      @Schema(nullable = true, description = "Why it did not succeed; null: it did")
          String message) {
    static AttemptView read(ResultSet row) throws SQLException {
      return new AttemptView(
          row.getInt("attempt"),
          Sql.instant(row, "started_at"),
          row.getDouble("duration_seconds"),
          row.getObject("status", Integer.class),
          row.getString("message"));
    }
  }
}
