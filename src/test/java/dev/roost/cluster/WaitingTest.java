package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.FiredEvents;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import jakarta.enterprise.event.Event;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WaitingTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private final Signals signals = new Signals(new OnlyReplica());
  private final Event<Draining.Begun> nobody = new FiredEvents<>();
  private final Draining draining = new Draining(signals, nobody, Duration.ofSeconds(3));
  private final Waiting waiting = new Waiting(signals, draining);
  private final AtomicInteger looks = new AtomicInteger();

  private CompletableFuture<String> wait(Duration timeout) {
    return waiting
        .until(
            "a",
            timeout,
            () -> {
              looks.incrementAndGet();
              return Optional.<String>empty();
            },
            () -> "over")
        .subscribeAsCompletionStage();
  }

  @Test
  void whoeverWaitsIsAnsweredShortlyBeforeTheProcessStops() throws Exception {
    CompletableFuture<String> answer = wait(LONG);
    long began = System.nanoTime();
    draining.begin(new ShutdownDelayInitiatedEvent());
    assertEquals("over", answer.get(30, TimeUnit.SECONDS));
    Duration waited = Duration.ofNanos(System.nanoTime() - began);
    assertTrue(waited.compareTo(Duration.ofMillis(2_200)) > 0, waited::toString);
  }

  @Test
  void whatHappensMeanwhileIsAnswered() throws Exception {
    AtomicBoolean ended = new AtomicBoolean();
    CompletableFuture<String> answer =
        waiting
            .until(
                "b",
                LONG,
                () -> ended.get() ? Optional.of("ended") : Optional.empty(),
                () -> "over")
            .subscribeAsCompletionStage();
    draining.begin(new ShutdownDelayInitiatedEvent());
    CompletableFuture<String> late = wait(LONG);
    assertFalse(late.isDone());
    ended.set(true);
    signals.fire("b");
    assertEquals("ended", answer.get(30, TimeUnit.SECONDS));
    assertEquals("over", late.get(30, TimeUnit.SECONDS));
  }

  @Test
  void whoeverComesAtTheEndWaitsForAMomentOnly() throws Exception {
    Draining over = new Draining(signals, nobody, Duration.ZERO);
    over.begin(new ShutdownDelayInitiatedEvent());
    long began = System.nanoTime();
    String answer =
        new Waiting(signals, over)
            .until("a", LONG, Optional::<String>empty, () -> "over")
            .subscribeAsCompletionStage()
            .get(30, TimeUnit.SECONDS);
    assertEquals("over", answer);
    assertTrue(System.nanoTime() - began >= 240_000_000, "no busy loop of clients");
    assertEquals(Duration.ofMillis(10), over.shorten(Duration.ofMillis(10)));
  }

  /** Signals of other replicas may get lost. */
  @Test
  void whoeverWaitsLooksWithoutASignal() throws Exception {
    CompletableFuture<String> answer = wait(LONG);
    Await.until("it has looked again and again", () -> looks.get() >= 3);
    assertFalse(answer.isDone());
    answer.cancel(true);
    assertEquals("over", wait(Duration.ofMillis(100)).get(30, TimeUnit.SECONDS));
  }
}
