package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class TtlCacheTest {
  private final AtomicInteger asked = new AtomicInteger();
  private final Supplier<Optional<String>> ask =
      () -> Optional.of("answer " + asked.incrementAndGet());

  @Test
  void anAnswerServesForAWhileForItsKeyOnly() {
    TtlCache recent = new TtlCache(Duration.ofMinutes(1).toNanos());
    assertEquals(Optional.of("answer 1"), recent.get("a", ask));
    assertEquals(Optional.of("answer 1"), recent.get("a", ask));
    assertEquals(Optional.of("answer 2"), recent.get("b", ask));
    assertEquals(2, asked.get());
  }

  @Test
  void anOldAnswerIsRequestedAgain() {
    TtlCache recent = new TtlCache(Duration.ofMillis(20).toNanos());
    recent.get("a", ask);
    Await.until("it is asked again", () -> recent.get("a", ask).get().equals("answer 2"));
  }

  @Test
  void timeoutEndsAfterItsLimitAndRestartsWhenForgotten() {
    Deadlines patience = new Deadlines(Duration.ofMillis(30));
    assertFalse(patience.isOver("a"));
    Await.until("it is over", () -> patience.isOver("a"));
    assertTrue(patience.isOver("a"));
    assertFalse(patience.isOver("b"));
    patience.forget("a");
    assertFalse(patience.isOver("a"));
  }
}
