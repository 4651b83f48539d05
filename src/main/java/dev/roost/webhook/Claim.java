package dev.roost.webhook;

import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A delivery that is being sent: nobody else sends it before the lease expires.
 *
 * @param attempt from 1
 * @param untried the remaining time for attempts
 * @param secrets the secrets that sign the delivery
 * @param event null: the event was removed
 */
record Claim(
    String deliveryId,
    String webhookId,
    String eventType,
    int attempt,
    Duration untried,
    String url,
    List<String> secrets,
    CloudEvent event) {

  static Claim read(ResultSet row, String installation) throws SQLException {
    return new Claim(
        row.getString("id"),
        row.getString("webhook_id"),
        row.getString("event_type"),
        row.getInt("attempts"),
        Duration.ofMillis(Math.round(1_000 * row.getDouble("untried"))),
        row.getString("url"),
        Stream.of(row.getString("secret"), row.getString("previous_secret"))
            .filter(secret -> secret != null)
            .toList(),
        event(row, installation));
  }

  /** From the columns position, event_type, subject, time and data; null when there is no event. */
  static CloudEvent event(ResultSet row, String installation) throws SQLException {
    String data = row.getString("data");
    return data == null
        ? null
        : new CloudEvent(
            row.getLong("position"),
            installation,
            row.getString("event_type"),
            row.getString("subject"),
            Sql.instant(row, "time"),
            data);
  }

  boolean isTest() {
    return eventType.equals(DeliveryRepository.TEST);
  }

  /** Omits the secrets, which must not get into logs. */
  @Override
  public String toString() {
    return "attempt " + attempt + " of " + deliveryId;
  }
}
