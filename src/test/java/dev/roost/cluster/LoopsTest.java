package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What metrics show of loops. */
@Timeout(60)
class LoopsTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final AtomicBoolean leads = new AtomicBoolean(true);
  private final AtomicBoolean works = new AtomicBoolean(true);
  private final Loops loops =
      new Loops(
          new OnlyReplica() {
            @Override
            public boolean isHeld() {
              return leads.get();
            }
          },
          registry);
  private Loop loop;

  @AfterEach
  void end() {
    loop.stop();
  }

  private void start(Duration pause) {
    loop =
        loops.make(
            "test",
            () -> {
              if (!works.get()) {
                throw new IllegalStateException("wanted by the test");
              }
              return pause;
            });
    loop.start();
  }

  private double lag() {
    return registry.get("roost.loop.lag").tag("loop", "test").gauge().value();
  }

  private double failures() {
    return registry.get("roost.loop.failures").tag("loop", "test").counter().count();
  }

  private long passes() {
    return registry.get("roost.loop.pass").tag("loop", "test").timer().count();
  }

  @Test
  void aLoopThatWaitsForItsNextPassIsNotLate() {
    start(Duration.ofHours(1));
    Await.until("a pass", () -> passes() == 1);
    Await.until("no lag", () -> lag() == 0);
    assertEquals(0, failures());
  }

  @Test
  void theLagGrowsWhilePassesFail() {
    works.set(false);
    start(Duration.ofMillis(1));
    Await.until("failures", () -> failures() >= 3);
    assertEquals(0, passes());
    Await.until("it is late", () -> lag() > 1);
    works.set(true);
    Await.until("it is on time again", () -> passes() > 10 && lag() < 1);
  }

  @Test
  void aReplicaThatFollowsIsNotLate() {
    works.set(false);
    start(Duration.ofMillis(1));
    Await.until("it is late", () -> lag() > 0.2);
    assertEquals(1, registry.get("roost.leader").gauge().value());
    leads.set(false);
    assertEquals(0, lag());
    assertEquals(0, registry.get("roost.leader").gauge().value());
    assertTrue(failures() > 0);
  }
}
