package dev.roost.cluster;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.atomic.AtomicLong;

/** Creates and measures the loops of this process. */
@ApplicationScoped
public class Loops {
  private final Leadership leadership;
  private final MeterRegistry registry;

  Loops(Replicas replicas, MeterRegistry registry) {
    this.leadership = replicas;
    this.registry = registry;
    Gauge.builder("roost.leader", replicas, one -> one.isHeld() ? 1 : 0)
        .description("1 if this replica is the leader, which runs the loops; 0 otherwise")
        .register(registry);
  }

  /**
   * Creates a loop; the caller starts it.
   *
   * @param name name of the thread and of the loop in metrics
   */
  public Loop make(String name, Loop.Pass pass) {
    Timer passes =
        Timer.builder("roost.loop.pass")
            .description("Passes of the leader's loops that succeeded")
            .tag("loop", name)
            .register(registry);
    Counter failures =
        Counter.builder("roost.loop.failures")
            .description("Passes of the leader's loops that failed and are retried")
            .tag("loop", name)
            .register(registry);
    // When a pass without any duration would have ended; System.nanoTime.
    AtomicLong due = new AtomicLong(System.nanoTime());
    leadership.whenGained(() -> due.set(System.nanoTime()));
    Gauge.builder("roost.loop.lag", () -> leadership.isHeld() ? lagSeconds(due) : 0)
        .description("Time since the next pass was due, while it has not succeeded")
        .baseUnit("seconds")
        .tag("loop", name)
        .register(registry);
    return new Loop(
        name,
        leadership,
        () -> {
          Timer.Sample sample = Timer.start(registry);
          try {
            var pause = pass.run();
            sample.stop(passes);
            due.set(System.nanoTime() + pause.toNanos());
            return pause;
          } catch (RuntimeException | Error e) {
            failures.increment();
            throw e;
          }
        });
  }

  private static double lagSeconds(AtomicLong due) {
    return Math.max(0, System.nanoTime() - due.get()) / 1e9;
  }
}
