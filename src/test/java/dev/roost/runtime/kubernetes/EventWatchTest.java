package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EventWatchTest {
  private static final String EVENTS = "/api/v1/namespaces/agents/events";

  private final FakeApi api = new FakeApi();
  private final AtomicLong now = new AtomicLong();
  private final LatestEvents latest = new LatestEvents();
  private final EventWatch watch =
      new EventWatch(new Cluster(api.client, "agents"), latest, Duration.ofMillis(20), now::get);

  @BeforeEach
  void allow() {
    api.answer("GET " + EVENTS + "?limit=1", 200, TestEvents.list());
    api.answer("WATCH " + EVENTS, 200, "");
  }

  @AfterEach
  void close() {
    watch.close();
    api.close();
  }

  private FakeWatch start() {
    watch.keep();
    FakeWatch connected = api.watch();
    Await.until("it is live", watch::isLive);
    return connected;
  }

  /** Waits until an event has been stored. */
  private void deliver(FakeWatch connected, int version) {
    latest.created(latest.follow("executor-1"));
    connected.send(
        "ADDED",
        TestEvents.event(
            "a", "" + version, "Pod", "executor-1-a", "Warning", "Failed", TestEvents.second(1)));
    Await.until(
        "it is stored", () -> latest.about("executor-1", "executor-1-a").warning().isPresent());
  }

  @Test
  void aConnectionThatDiedSilentlyIsReplacedByOneThatMissesNothing() {
    deliver(start(), 104);
    now.addAndGet(Duration.ofSeconds(151).toNanos());
    assertFalse(watch.isLive());
    watch.keep();
    FakeWatch next = api.watch();
    assertTrue(next.query.contains("resourceVersion=104"), next.query);
    Await.until("it is live", watch::isLive);
    assertNotNull(latest.about("executor-1", "executor-1-a"));
  }

  @Test
  void aWatchWithoutEventsIsFollowedByOneFromNowOn() {
    FakeWatch quiet = start();
    latest.created(latest.follow("executor-1"));
    api.answer("GET " + EVENTS + "?limit=1", 200, TestEvents.list().replace("\"100\"", "\"200\""));
    quiet.end();
    FakeWatch next = api.watch();
    assertTrue(next.query.contains("resourceVersion=200"), next.query);
    assertNull(latest.about("executor-1", "executor-1"), "it is listed");
  }

  @Test
  void anUnusedWatchEndsUntilItIsNeeded() {
    FakeWatch first = start();
    deliver(first, 104);
    now.addAndGet(Duration.ofMinutes(6).toNanos());
    first.end();
    Await.until(
        "its thread has ended",
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("event-watch")));
    assertEquals(1, Collections.frequency(api.requests, "WATCH " + EVENTS));
    FakeWatch next = start();
    assertTrue(next.query.contains("resourceVersion=100"), next.query);
    assertNull(latest.about("executor-1", "executor-1-a"), "it is listed");
  }
}
