package dev.roost.webhook;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.roost.api.JsonText;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.state.DeliveryState;
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
      @Schema(description = "The webhook") String webhookId,
      @Schema(description = "The position of the event in the log of events") String eventId,
      @Schema(description = "The type of the event", examples = "execution.failed")
          String eventType,
      @Schema(
              description =
                  "The identifier of the resource that has changed. Deliveries of one subject are sent in "
                      + "order")
          String subject,
      @Schema(description = "pending: it will be sent or retried. failed: it is no longer retried")
          DeliveryState state,
      @Schema(description = "The number of attempts") int attempts,
      @Schema(
              nullable = true,
              description =
                  "The time of the next attempt; null if it is not pending, or waits for an earlier "
                      + "delivery of its subject")
          Instant nextAttemptAt,
      Instant createdAt,
      @Schema(
              nullable = true,
              description = "When it succeeded or failed; null while it is pending")
          Instant finishedAt,
      @Schema(
              nullable = true,
              description =
                  "HTTP status of the last attempt; null if there was no response, or no attempt has ended")
          Integer status,
      @Schema(
              nullable = true,
              description =
                  "Why the last attempt failed; null if it succeeded, or no attempt has ended")
          String message,
      @Schema(description = "Only when a single delivery is retrieved: its attempts, oldest first")
          @JsonInclude(JsonInclude.Include.NON_NULL)
          List<AttemptView> attemptsLog,
      @Schema(
              description =
                  "Only when a single delivery is retrieved, and while its event is kept: the body of the request")
          @JsonInclude(JsonInclude.Include.NON_NULL)
          JsonText request) {
    static View read(ResultSet row) throws SQLException {
      return new View(
          row.getString("id"),
          row.getString("webhook_id"),
          row.getString("position"),
          row.getString("event_type"),
          row.getString("subject"),
          Code.parse(DeliveryState.class, row.getString("state")),
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
      @Schema(
              description =
                  "The number of the attempt, from 1. Attempts whose end Roost did not observe are omitted")
          int attempt,
      @Schema(description = "When the request began") Instant startedAt,
      @Schema(description = "Seconds") double duration,
      @Schema(nullable = true, description = "HTTP status; null if there was no response")
          Integer status,
      @Schema(nullable = true, description = "Why the attempt failed; null if it succeeded")
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
