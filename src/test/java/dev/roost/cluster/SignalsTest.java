package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SignalsTest {
  private final Signals signals = new Signals(new OnlyReplica());

  @Test
  void aSignalWakesEveryoneWhoWaitsForThatTopicAndNobodyElse() {
    CompletableFuture<Void> first = signals.next("a");
    CompletableFuture<Void> second = signals.next("a");
    CompletableFuture<Void> other = signals.next("b");
    signals.fire("a");
    assertTrue(first.isDone() && second.isDone());
    assertFalse(other.isDone());
  }

  @Test
  void aSignalThatCameBeforeIsNotHeard() {
    signals.fire("a");
    CompletableFuture<Void> next = signals.next("a");
    assertFalse(next.isDone());
    signals.fire("a");
    assertNull(next.join());
  }

  @Test
  void eachWaitHearsOneSignal() {
    CompletableFuture<Void> first = signals.next("a");
    signals.fire("a");
    CompletableFuture<Void> second = signals.next("a");
    assertTrue(first.isDone());
    assertFalse(second.isDone());
  }

  @Test
  void whoeverGivesUpDoesNotDisturbTheOthers() {
    CompletableFuture<Void> first = signals.next("a");
    CompletableFuture<Void> second = signals.next("a");
    first.cancel(false);
    signals.fire("a");
    assertTrue(first.isCancelled());
    assertNull(second.join());
  }

  @Test
  void whoeverIsWokenMayWaitAgainOrSignalAtOnce() {
    AtomicInteger woken = new AtomicInteger();
    CompletableFuture<Void> again =
        signals
            .next("a")
            .thenCompose(
                nothing -> {
                  woken.incrementAndGet();
                  CompletableFuture<Void> next = signals.next("a");
                  signals.fire("b");
                  return next;
                });
    CompletableFuture<Void> other = signals.next("b");
    signals.fire("a");
    assertTrue(other.isDone());
    assertFalse(again.isDone(), "the signal that woke it counts once");
    signals.fire("a");
    assertTrue(again.isDone());
    assertEquals(1, woken.get());
  }

  /** Ask for the signal, read the state, wait: in that order none is missed. */
  @Test
  void noChangeIsMissedWhenTwoThreadsMeet()
      throws InterruptedException, ExecutionException, TimeoutException {
    AtomicInteger state = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    int rounds = 20_000;
    CompletableFuture<Void> reader =
        CompletableFuture.runAsync(
            () -> {
              while (seen.get() < rounds) {
                CompletableFuture<Void> change = signals.next("a");
                int now = state.get();
                if (now > seen.get()) {
                  seen.set(now);
                  change.cancel(false);
                } else {
                  change.orTimeout(60, TimeUnit.SECONDS).join();
                }
              }
            });
    for (int round = 1; round <= rounds; round++) {
      state.set(round);
      signals.fire("a");
      while (round % 100 == 0 && seen.get() < round && !reader.isDone()) {
        Thread.onSpinWait();
      }
    }
    reader.get(60, TimeUnit.SECONDS);
    assertEquals(rounds, seen.get());
  }

  /**
   * Two topics in one bin of a hash table, whose keys move to its end when they are added again.
   */
  @Test
  void aSignalOnAllTopicsEndsAlsoWhenEveryoneWaitsAgainAtOnce() {
    Map<String, Integer> woken = new ConcurrentHashMap<>();
    for (int i = 0; i < 100; i++) {
      waitAgain("topic" + i, woken);
    }
    assertTimeoutPreemptively(Duration.ofSeconds(30), signals::fireAllHere);
    assertEquals(100, woken.size());
    assertEquals(Set.of(1), Set.copyOf(woken.values()));
  }

  private void waitAgain(String topic, Map<String, Integer> woken) {
    signals
        .next(topic)
        .thenRun(
            () -> {
              woken.merge(topic, 1, Integer::sum);
              waitAgain(topic, woken);
            });
  }
}
