package dev.roost.notification;

import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** One message of a channel, with all notifications that were collected for it. */
final class Message {
  private Message() {}

  /** A message in the API. */
  @Schema(name = "NotificationMessage")
  record View(
      @Schema(examples = "message_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
      @Schema(description = "The channel") String channelId,
      @Schema(description = "Whether it is a test") boolean test,
      @Schema(
              description =
                  "pending: it will be sent or retried. failed: it is no longer retried. dropped: all it "
                      + "was about was resolved, or its channel was disabled, before it was sent")
          MessageState state,
      @Schema(description = "The subject; empty before the first attempt") String title,
      @Schema(description = "The number of attempts") int attempts,
      @Schema(
              nullable = true,
              description = "The time of the next attempt; null if it is not pending")
          Instant nextAttemptAt,
      Instant createdAt,
      @Schema(nullable = true, description = "When it ended; null while it is pending")
          Instant finishedAt,
      @Schema(
              nullable = true,
              description = "What failed at the latest attempt; null if nothing did")
          String error) {
    static View read(ResultSet row) throws SQLException {
      return new View(
          row.getString("id"),
          row.getString("channel_id"),
          row.getBoolean("test"),
          Code.parse(MessageState.class, row.getString("state")),
          row.getString("title"),
          row.getInt("attempts"),
          Sql.instant(row, "next_attempt_at"),
          Sql.instant(row, "created_at"),
          Sql.instant(row, "finished_at"),
          row.getString("error"));
    }

    boolean wasTried() {
      return state != MessageState.PENDING || error != null;
    }
  }
}
