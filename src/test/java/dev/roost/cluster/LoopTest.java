package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LoopTest {
  private static final Duration FOREVER = Duration.ofDays(1);
  private static final long PATIENCE_SECONDS = 30;

  /** When each pass began, System.nanoTime. */
  private final BlockingQueue<Long> passes = new LinkedBlockingQueue<>();

  private final AtomicInteger count = new AtomicInteger();
  private final AtomicBoolean leads = new AtomicBoolean(true);

  /** How often the loop has asked whether it may make a pass. */
  private final AtomicInteger asked = new AtomicInteger();

  private final List<Runnable> whenGained = new ArrayList<>();
  private final Leadership leadership =
      new Leadership() {
        @Override
        public boolean isHeld() {
          asked.incrementAndGet();
          return leads.get();
        }

        @Override
        public void whenGained(Runnable action) {
          whenGained.add(action);
        }
      };
  private Loop loop;

  @AfterEach
  void end() {
    if (loop != null) {
      loop.stop();
    }
  }

  private void start(Loop.Pass pass) {
    loop =
        new Loop(
            "loop of a test",
            leadership,
            () -> {
              count.incrementAndGet();
              passes.add(System.nanoTime());
              return pass.run();
            });
    loop.start();
  }

  private long awaitPass() throws InterruptedException {
    Long began = passes.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertNotNull(began, "no pass came");
    return began;
  }

  /** Makes the loop ask twice, so that a pass which follows the first question has ended. */
  private void askAgain() {
    int before = asked.get();
    Await.until(
        "it has asked",
        () -> {
          loop.wake();
          return asked.get() >= before + 2;
        });
  }

  @Test
  void aPassFollowsTheOtherAfterItsRequestedPause() throws InterruptedException {
    start(() -> Duration.ofMillis(40));
    long first = awaitPass();
    long second = awaitPass();
    long third = awaitPass();
    assertTrue(second - first >= 38_000_000, () -> "paused " + (second - first) + " ns");
    assertTrue(third - second >= 38_000_000, () -> "paused " + (third - second) + " ns");
  }

  @Test
  void aWakeUpEndsThePause() throws InterruptedException {
    start(() -> FOREVER);
    awaitPass();
    for (int i = 0; i < 100; i++) {
      loop.wake();
      awaitPass();
    }
    assertEquals(101, count.get());
  }

  @Test
  void aWakeUpDuringAPassIsFollowedByOneMore() throws InterruptedException {
    CountDownLatch mayEnd = new CountDownLatch(1);
    start(
        () -> {
          await(mayEnd);
          return FOREVER;
        });
    awaitPass();
    loop.wake();
    loop.wake();
    loop.wake();
    mayEnd.countDown();
    awaitPass();
    loop.stop();
    assertEquals(2, count.get(), "three wake-ups are one reason to look again");
  }

  /** Whatever the moment of the wake-up, a pass begins after it. */
  @Test
  void noWakeUpIsLost() throws InterruptedException {
    AtomicInteger ordered = new AtomicInteger();
    BlockingQueue<Integer> seen = new LinkedBlockingQueue<>();
    start(
        () -> {
          seen.add(ordered.get());
          return FOREVER;
        });
    for (int order = 1; order <= 2_000; order++) {
      ordered.set(order);
      loop.wake();
      if (order % 10 == 0) {
        Integer latest = seen.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        while (latest != null && latest < order) {
          latest = seen.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        assertEquals(order, latest, "no pass saw the order");
      }
    }
  }

  @Test
  void aPassThatFailsIsTriedAgainAfterPausesThatGrow() throws InterruptedException {
    AtomicBoolean fails = new AtomicBoolean(true);
    start(
        () -> {
          if (fails.get()) {
            throw new IllegalStateException("on purpose");
          }
          return FOREVER;
        });
    List<Long> pauses = new ArrayList<>();
    long before = awaitPass();
    for (int i = 0; i < 3; i++) {
      long began = awaitPass();
      pauses.add(began - before);
      before = began;
    }
    assertTrue(pauses.get(0) >= 190_000_000, pauses::toString);
    assertTrue(pauses.get(1) >= 390_000_000, pauses::toString);
    assertTrue(pauses.get(2) >= 790_000_000, pauses::toString);
    fails.set(false);
    loop.wake();
    awaitPass();
  }

  @Test
  void afterASuccessTheFirstPauseIsShortAgain() throws InterruptedException {
    start(
        () -> {
          if (count.get() != 8) {
            throw new IllegalStateException("on purpose");
          }
          return Duration.ZERO;
        });
    for (int i = 1; i < 9; i++) {
      awaitPass();
      if (i < 8) {
        loop.wake();
      }
    }
    long failed = awaitPass();
    long again = awaitPass();
    // After the seven before, it would be ten seconds.
    assertTrue(again - failed < 9_000_000_000L, () -> "paused " + (again - failed) + " ns");
  }

  /** A reconciler that has ended unnoticed is worse than any error. */
  @Test
  void anErrorDoesNotEndTheLoop() throws InterruptedException {
    start(
        () -> {
          if (count.get() == 1) {
            throw new StackOverflowError("on purpose");
          }
          return FOREVER;
        });
    awaitPass();
    loop.wake();
    awaitPass();
  }

  @Test
  void nothingRunsOnAFollowerUntilItLeads() throws InterruptedException {
    leads.set(false);
    start(() -> FOREVER);
    askAgain();
    assertEquals(0, count.get(), "a pass without leadership");
    leads.set(true);
    whenGained.forEach(Runnable::run);
    awaitPass();
    leads.set(false);
    askAgain(); // It may have looked for itself, and have been woken as well: a second pass.
    int before = count.get();
    askAgain();
    assertEquals(before, count.get(), "a pass after leadership was lost");
  }

  /** Leadership that was only in doubt for a moment comes back without a word. */
  @Test
  void aLeaderThatWasInDoubtContinues() throws InterruptedException {
    leads.set(false);
    start(() -> FOREVER);
    leads.set(true);
    awaitPass();
  }

  @Test
  void stopEndsTheLoopDuringAPause() throws InterruptedException {
    start(() -> FOREVER);
    awaitPass();
    loop.stop();
    loop.wake();
    assertEquals(1, count.get());
  }

  @Test
  void stopWaitsForThePassThatRuns() throws InterruptedException {
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    start(
        () -> {
          await(mayEnd);
          ended.set(true);
          return Duration.ZERO;
        });
    awaitPass();
    AtomicBoolean endedBeforeStopReturned = new AtomicBoolean();
    Thread stopper =
        new Thread(
            () -> {
              loop.stop();
              endedBeforeStopReturned.set(ended.get());
            });
    stopper.start();
    while (stopper.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    assertFalse(ended.get());
    mayEnd.countDown();
    stopper.join();
    assertTrue(endedBeforeStopReturned.get());
    assertEquals(1, count.get(), "no pass after the stop");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
