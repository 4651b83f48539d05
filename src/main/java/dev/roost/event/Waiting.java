package dev.roost.event;

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
  /**
   * How often a waiter looks by itself: a change that another replica made sends no signal here.
   */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private static final int MAX_WAIT_SECONDS = 60;

  private final Signals signals;

  Waiting(Signals signals) {
    this.signals = signals;
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
    long end = System.nanoTime() + timeout.toNanos();
    return attempt(topic, end, every, look, atTimeout);
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
    long end = System.nanoTime() + timeout.toNanos();
    return pause(change, end, LOOK).chain(() -> attempt(topic, end, LOOK, look, atTimeout));
  }

  private <T> Uni<T> attempt(
      String topic, long end, Duration every, Supplier<Optional<T>> look, Supplier<T> atTimeout) {
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
              Duration left = Duration.ofNanos(end - System.nanoTime());
              if (result.isPresent() || left.isNegative() || left.isZero()) {
                change.cancel(false);
                return Uni.createFrom().item(result.orElseGet(atTimeout));
              }
              return pause(change, end, every)
                  .chain(() -> attempt(topic, end, every, look, atTimeout));
            });
  }

  /** Waits for the change, but not beyond the end and not longer than that. */
  private static Uni<Void> pause(CompletableFuture<Void> change, long end, Duration longest) {
    Duration left = Duration.ofNanos(Math.max(1, end - System.nanoTime()));
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
