package dev.roost.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.api.JsonText;
import dev.roost.cluster.OnlyReplica;
import dev.roost.cluster.Signals;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class EventTailTest {
  private static final EventLog.Filter ALL = EventLog.Filter.NONE;

  private final Signals signals = new Signals(new OnlyReplica());
  private final Log log = new Log();
  private final EventTail tail = new EventTail(log, signals, Duration.ofHours(1));

  /** A log in memory that counts how often it is asked. */
  private static final class Log implements EventTail.Source {
    final AtomicInteger looks = new AtomicInteger();
    private final List<EventLog.Entry> entries = new ArrayList<>();

    synchronized void add(long count, String type) {
      LongStream.range(0, count)
          .forEach(
              i ->
                  entries.add(
                      new EventLog.Entry(
                          Long.toString(entries.size() + 1),
                          type,
                          "agent_1",
                          "agent_1",
                          Instant.EPOCH,
                          new JsonText("{}"))));
    }

    @Override
    public synchronized long latest() {
      looks.incrementAndGet();
      return entries.size();
    }

    @Override
    public synchronized EventLog.Part read(long after, int limit, EventLog.Filter filter) {
      looks.incrementAndGet();
      List<EventLog.Entry> found =
          entries.stream()
              .filter(entry -> entry.position() > after && filter.matches(entry))
              .limit(limit)
              .toList();
      return new EventLog.Part(
          found, found.size() == limit ? found.get(limit - 1).position() : entries.size());
    }
  }

  @BeforeEach
  void start() {
    log.add(10, "agent.created");
    tail.start(null);
  }

  @AfterEach
  void stop() throws InterruptedException {
    tail.stop(null);
  }

  /** Waits until the tail has read what there is. */
  private void caughtUp(long position) {
    Await.until(
        "the tail has caught up",
        () -> {
          int before = log.looks.get();
          boolean there = tail.read(position - 1, 1, ALL).entries().size() == 1;
          return there && log.looks.get() == before;
        });
  }

  private void add(long count, String type) {
    log.add(count, type);
    signals.fireHere(EventLog.TOPIC);
  }

  @Test
  void whileThereAreNoStreamsNothingIsRead() {
    signals.fireHere(EventLog.TOPIC);
    assertEquals(0, log.looks.get());
  }

  @Test
  void manyStreamsCostOneLook() throws Exception {
    for (int i = 0; i < 400; i++) {
      tail.join();
    }
    Await.until("it has begun", () -> log.looks.get() >= 2);
    Await.until("it has looked", () -> tail.read(10, 1, ALL).next() == 10);
    CompletableFuture<Void> read = signals.next(EventTail.TOPIC);
    add(3, "agent.updated");
    read.get(60, TimeUnit.SECONDS);
    caughtUp(13);
    int looks = log.looks.get();
    for (int i = 0; i < 400; i++) {
      EventLog.Part part = tail.read(10, 500, ALL);
      assertEquals(List.of("11", "12", "13"), part.entries().stream().map(e -> e.id()).toList());
      assertEquals(13, part.next());
      assertEquals(List.of(), tail.read(13, 500, ALL).entries());
    }
    assertTrue(log.looks.get() <= looks + 1, "400 streams have looked without asking");
  }

  @Test
  void aFilterAndALimitLeaveOut() {
    tail.join();
    Await.until("it has begun", () -> log.looks.get() >= 2);
    add(2, "agent.updated");
    add(2, "agent.deleted");
    caughtUp(14);
    EventLog.Filter deleted = new EventLog.Filter(List.of("agent.deleted"), "agent_1", null);
    EventLog.Part first = tail.read(10, 1, deleted);
    assertEquals("13", first.entries().get(0).id());
    assertEquals(13, first.next());
    assertEquals(14, tail.read(13, 2, deleted).next());
    EventLog.Filter none = new EventLog.Filter(List.of("agent.created"), null, null);
    assertEquals(new EventLog.Part(List.of(), 14), tail.read(10, 5, none));
  }

  @Test
  void whoeverIsFarBehindReadsTheLogItself() {
    tail.join();
    Await.until("it has begun", () -> log.looks.get() >= 2);
    add(5_000, "agent.updated");
    caughtUp(5_010);
    long position = 3;
    List<Long> seen = new ArrayList<>();
    while (position < 5_010) {
      EventLog.Part part = tail.read(position, 500, ALL);
      part.entries().forEach(entry -> seen.add(Long.valueOf(entry.id())));
      position = part.next();
    }
    assertEquals(LongStream.rangeClosed(4, 5_010).boxed().toList(), seen);
  }

  @Test
  void itBeginsAnewForTheNextStream() {
    tail.join();
    Await.until("it has begun", () -> log.looks.get() >= 2);
    tail.leave();
    add(7, "agent.updated");
    tail.join();
    Await.until("they can be read", () -> tail.read(10, 500, ALL).entries().size() == 7);
    // Maybe from the log. It would begin behind what is added before it has looked.
    Await.until(
        "it knows the end",
        () -> {
          int before = log.looks.get();
          tail.read(17, 1, ALL);
          return log.looks.get() == before;
        });
    add(1, "agent.deleted");
    caughtUp(18);
  }
}
