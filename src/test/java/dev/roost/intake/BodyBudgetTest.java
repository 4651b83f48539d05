package dev.roost.intake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BodyBudgetTest {
  private final BodyBudget budget = new BodyBudget(100);

  @Test
  void whoFindsNoMemoryWaitsForThoseBefore() {
    Runnable first = budget.reserve(60).join();
    CompletableFuture<Runnable> second = budget.reserve(60);
    CompletableFuture<Runnable> third = budget.reserve(10);
    assertFalse(second.isDone());
    assertFalse(third.isDone(), "a small one does not pass a large one that came before");
    first.run();
    assertTrue(second.isDone());
    assertTrue(third.isDone());
    assertEquals(70, budget.used());
  }

  @Test
  void moreThanThereIsWaitsUntilItIsAlone() {
    Runnable small = budget.reserve(1).join();
    CompletableFuture<Runnable> huge = budget.reserve(1_000);
    assertFalse(huge.isDone());
    small.run();
    assertEquals(100, budget.used());
    huge.join().run();
    assertEquals(0, budget.used());
  }

  @Test
  void whoGivesUpIsPassedOver() {
    Runnable first = budget.reserve(100).join();
    CompletableFuture<Runnable> gone = budget.reserve(100);
    CompletableFuture<Runnable> next = budget.reserve(100);
    gone.cancel(false);
    first.run();
    assertTrue(next.isDone());
    next.join().run();
    assertEquals(0, budget.used());
  }

  @Test
  void memoryIsGivenBackOnce() {
    Runnable first = budget.reserve(40).join();
    budget.reserve(40).join();
    first.run();
    first.run();
    assertEquals(40, budget.used());
  }
}
