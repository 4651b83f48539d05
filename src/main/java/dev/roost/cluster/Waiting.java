package dev.roost.cluster;

import dev.roost.api.Problem;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Holds an answer until something has happened, without holding a thread or a database connection.
 */
@ApplicationScoped
public class Waiting {
  /** How often a waiter looks by itself: a signal of another replica may have got lost. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private static final int MAX_WAIT_SECONDS = 60;

  private final Signals signals;
  private final Draining draining;

  Waiting(Signals signals, Draining draining) {
    this.signals = signals;
    this.draining = draining;
  }

  /**
   * @param seconds the query parameter, or null
   * @throws Problem validation_failed
   */
  public static Duration parameter(Integer seconds) {
    if (seconds == null) {
      return Duration.ZERO;
    }
    if (seconds < 0 || seconds > MAX_WAIT_SECONDS) {
      throw Problem.invalid(
          "?wait", "out_of_range", "wait must be from 0 to " + MAX_WAIT_SECONDS + " seconds.");
    }
    return Duration.ofSeconds(seconds);
  }

  /**
   * Looks now, on the caller's thread, and after each signal, until there is a result or the time
   * is over.
   *
   * @param look reads the state; runs on a worker thread; empty means "not yet"
   * @param atTimeout what to answer when time is over; runs on a worker thread
   */
  public <T> Uni<T> until(
      String topic, Duration timeout, Supplier<Optional<T>> look, Supplier<T> atTimeout) {
    return until(topic, timeout, LOOK, look, atTimeout);
  }

  /**
   * @param every how often to look without a signal
   */
  public <T> Uni<T> until(
      String topic,
      Duration timeout,
      Duration every,
      Supplier<Optional<T>> look,
      Supplier<T> atTimeout) {
    return attempt(topic, end(timeout), every, look, atTimeout);
  }

  /**
   * The same for what has begun only just now, so that a first look would be in vain.
   *
   * @param change from {@link Signals#next}, asked for before it began
   */
  public <T> Uni<T> afterChange(
      CompletableFuture<Void> change,
      String topic,
      Duration timeout,
      Supplier<Optional<T>> look,
      Supplier<T> atTimeout) {
    End end = end(timeout);
    return pause(change, end, LOOK).chain(() -> attempt(topic, end, LOOK, look, atTimeout));
  }

  /** Whether this process is about to stop, so that whoever waits again should do so elsewhere. */
  public boolean isEnding() {
    return draining.isOn();
  }

  /**
   * When a wait is over.
   *
   * @param nanos System.nanoTime
   * @param early whether it began before this process was about to stop
   */
  private record End(long nanos, boolean early) {}

  private End end(Duration timeout) {
    return new End(draining.end(timeout), !draining.isOn());
  }

  private long left(End end) {
    long now = System.nanoTime();
    long own = end.nanos() - now;
    return end.early() ? Math.min(own, draining.waitsEnd() - now) : own;
  }

  private <T> Uni<T> attempt(
      String topic, End end, Duration every, Supplier<Optional<T>> look, Supplier<T> atTimeout) {
    return Uni.createFrom()
        .deferred(
            () -> {
              CompletableFuture<Void> change = signals.next(topic);
              Optional<T> result;
              try {
                result = look.get();
              } catch (RuntimeException e) {
                change.cancel(false);
                throw e;
              }
              if (result.isPresent() || left(end) <= 0) {
                change.cancel(false);
                return Uni.createFrom().item(result.orElseGet(atTimeout));
              }
              return pause(change, end, every)
                  .chain(() -> attempt(topic, end, every, look, atTimeout));
            });
  }

  /** Waits for the change, but not beyond the end and not longer than that. */
  private Uni<Void> pause(CompletableFuture<Void> change, End end, Duration longest) {
    Duration left = Duration.ofNanos(Math.max(1, left(end)));
    return Uni.createFrom()
        .completionStage(change)
        .ifNoItem()
        .after(left.compareTo(longest) < 0 ? left : longest)
        .recoverWithItem((Void) null)
        .onTermination()
        .invoke(() -> change.cancel(false))
        .emitOn(Infrastructure.getDefaultWorkerPool());
  }
}
