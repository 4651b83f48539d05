package dev.roost.schedule;

import dev.roost.api.Storage;
import dev.roost.cluster.Draining;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.TransientErrors;
import dev.roost.execution.ExecutorJobQueued;
import dev.roost.execution.QueuedJobs;
import dev.roost.execution.ScheduledJobs.Submitted;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.scheduler.Scheduled;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.interceptor.Interceptor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;
import org.jboss.logging.Logger;

/**
 * Runs the ticker every second on every replica, and in between whenever a schedule is due; from
 * the end of the start-up until this process begins to stop.
 */
@ApplicationScoped
class Ticking {
  private static final Logger LOG = Logger.getLogger(Ticking.class);
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** Prevents a busy loop when many times are due in close succession, as with jitter. */
  private static final Duration LEAST_PAUSE = Duration.ofMillis(20);

  private static final Duration[] BUCKETS =
      LongStream.of(10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000, 600_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final Ticker ticker;
  private final ScheduledExecutorService timer;
  private final Draining draining;

  /** Held by the only running tick of this process. */
  private final ReentrantLock ticking = new ReentrantLock();

  private volatile boolean started;

  /** This field and {@code planned} are guarded by the lock. */
  private boolean failing;

  private Future<?> planned;

  Ticking(
      Database database,
      RoostConfig config,
      Storage storage,
      QueuedJobs queued,
      ScheduledExecutorService timer,
      Draining draining,
      MeterRegistry registry) {
    Timer lateness =
        Timer.builder("roost.schedule.lateness")
            .description(
                "Delay between the time when a schedule was due, including its jitter, and the creation "
                    + "of its job")
            .serviceLevelObjectives(BUCKETS)
            .register(registry);
    this.ticker =
        new Ticker(
            database,
            TickClock.DATABASE,
            new Ticker.Settings(
                config.schedules().missedAfter(),
                // While storage is full, every queue counts as full: times wait for the next
                // tick.
                () ->
                    storage.isFull(Storage.Area.PAYLOADS)
                        ? 0
                        : config.limits().queuedExecutorJobs()),
            submitted -> queued.announce(events(submitted)),
            lateness::record);
    this.timer = timer;
    this.draining = draining;
  }

  private static List<ExecutorJobQueued> events(List<Submitted> submitted) {
    return submitted.stream()
        .map(one -> new ExecutorJobQueued(one.request().agentId(), one.agentRevision()))
        .toList();
  }

  /** Quarkus calls {@link #beat} before other beans have started. */
  void start(@Observes @Priority(Interceptor.Priority.LIBRARY_AFTER) StartupEvent event) {
    started = true;
  }

  /** Runs before its dependencies stop; waits for the current tick. */
  void stop(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) ShutdownEvent event) {
    started = false;
    try {
      if (ticking.tryLock(5, TimeUnit.SECONDS)) {
        ticking.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Scheduled(every = "1s", concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
  void beat() {
    if (!ticking.tryLock()) {
      return; // A long tick is still running.
    }
    try {
      if (started && !draining.isOn()) {
        tick();
      }
    } finally {
      ticking.unlock();
    }
  }

  private void tick() {
    try {
      Optional<Duration> next = ticker.tick();
      if (failing) {
        failing = false;
        LOG.info("schedules are processed again");
      }
      next.filter(wait -> wait.compareTo(SECOND) < 0).ifPresent(this::tickAfter);
    } catch (RuntimeException e) {
      if (!failing) {
        failing = true;
        if (TransientErrors.isTransient(e)) {
          LOG.warnf("schedules wait for the database: %s", e.getMessage());
        } else {
          LOG.error("schedules cannot be processed; retrying every second", e);
        }
      }
    }
  }

  /**
   * Plans an extra beat: the usual one could come just before that time, and the next one a second
   * late.
   */
  private void tickAfter(Duration wait) {
    if (planned != null) {
      planned.cancel(false);
    }
    try {
      long nanos = Math.max(wait.toNanos() + 1_000_000, LEAST_PAUSE.toNanos());
      planned = timer.schedule(this::beat, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("the process is stopping");
    }
  }
}
