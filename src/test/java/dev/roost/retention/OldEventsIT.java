package dev.roost.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestDatabase;
import dev.roost.api.Ids;
import dev.roost.db.Database;
import dev.roost.db.ThrottledBatches;
import dev.roost.event.OldEvents;
import dev.roost.executor.Rows;
import dev.roost.webhook.OldDeliveries;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Among the events that the application notes itself: those have positions, and are of today. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class OldEventsIT {
  private static final Instant BEFORE = Instant.parse("2026-06-01T00:00:00Z");
  private static final Instant OLD = BEFORE.minus(Duration.ofDays(1));

  /** Positions before all others, as those of old events are. */
  private static final long FIRST = -1_000_000;

  @Inject Database database;
  private Rows rows;
  private ThrottledBatches batches;
  private long removedTo;

  @BeforeEach
  void begin() {
    rows = new Rows(database);
    batches = new ThrottledBatches(database, () -> true);
    removedTo = removedTo();
    rows.run("update event_log set removed_to = ?", FIRST);
  }

  @AfterEach
  void end() {
    rows.run("delete from event where position < 0");
    rows.run("delete from webhook where description = 'of old events'");
    rows.run("update event_log set removed_to = ?", removedTo);
  }

  @Test
  void oldEventsGoUpToTheFirstThatIsYoung() {
    events(1, 5, OLD);
    events(6, 6, BEFORE.plusSeconds(1));
    events(7, 8, OLD);

    OldEvents.remove(batches, FIRST, BEFORE, OldDeliveries::remove);

    assertEquals(List.of(6L, 7L, 8L), left());
    assertEquals(FIRST + 5, removedTo());
  }

  @Test
  void manyGoInSeveralStepsAndTheLogReportsProgress() {
    int many = 2 * OldEvents.LIMIT + 7;
    events(1, many, OLD);
    OldEvents.remove(batches, FIRST, BEFORE, OldDeliveries::remove);
    assertEquals(List.of(), left());
    assertEquals(FIRST + many, removedTo());
  }

  @Test
  void whatIsStillToBeDeliveredStaysWithItsEvent() {
    events(1, 4, OLD);
    String webhook = webhook();
    String delivered = delivery(webhook, 1, "succeeded");
    String pending = delivery(webhook, 2, "pending");
    String failed = delivery(webhook, 4, "failed");
    rows.run(
        """
        insert into webhook_attempt (delivery_id, attempt, started_at, duration_seconds) values (?, 1, now(), 1)""",
        delivered);

    OldEvents.remove(batches, FIRST, BEFORE, OldDeliveries::remove);

    assertEquals(List.of(2L), left());
    assertEquals(FIRST + 4, removedTo());
    assertEquals(0, rows.count("webhook_delivery where id in (?, ?)", delivered, failed));
    assertEquals(0, rows.count("webhook_attempt where delivery_id = ?", delivered));
    assertEquals(1, rows.count("webhook_delivery where id = ?", pending));

    rows.run("update webhook_delivery set state = 'succeeded' where id = ?", pending);
    OldEvents.remove(batches, FIRST, BEFORE, OldDeliveries::remove);
    assertEquals(List.of(), left());
    assertEquals(FIRST + 4, removedTo(), "it only grows");
    assertEquals(0, rows.count("webhook_delivery where id = ?", pending));
  }

  @Test
  void eventsWithoutAPositionStay() {
    rows.run(
        """
        insert into event (type, subject, data, time) values ('webhook.test', 'hook_waiting', '{}', ?)""",
        OLD);
    OldEvents.remove(batches, FIRST, BEFORE, OldDeliveries::remove);
    assertTrue(rows.count("event where subject = 'hook_waiting'") == 1);
    rows.run("delete from event where subject = 'hook_waiting'");
  }

  private void events(int from, int to, Instant time) {
    rows.run(
        """
        insert into event (position, type, subject, data, time)
        select ? + i, 'webhook.test', 'hook_old', '{}', ? from generate_series(?, ?) i""",
        FIRST,
        time,
        from,
        to);
  }

  private String webhook() {
    String id = Ids.next("hook");
    rows.run(
        """
        insert into webhook (id, url, description, event_types, secret, state, created_at, updated_at)
        values (?, 'https://example.org', 'of old events', '{*}', 'whsec_', 'disabled', now(), now())""",
        id);
    return id;
  }

  private String delivery(String webhook, int number, String state) {
    String id = Ids.next("dlv");
    rows.run(
        """
        insert into webhook_delivery (id, webhook_id, position, event_type, subject, state, created_at)
        values (?, ?, ? + ?, 'webhook.test', 'hook_old', ?, now())""",
        id,
        webhook,
        FIRST,
        (long) number,
        state);
    return id;
  }

  /** The numbers of the events that are there. */
  private List<Long> left() {
    String numbers =
        rows.text(
            "select string_agg((position - ?)::text, ',' order by position) from event where position < 0",
            FIRST);
    return numbers == null
        ? List.of()
        : List.of(numbers.split(",")).stream().map(Long::valueOf).toList();
  }

  private long removedTo() {
    return Long.parseLong(rows.text("select removed_to from event_log"));
  }
}
