package dev.roost.cluster;

import dev.roost.api.Problem;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Delays a response until a condition holds, without occupying a thread or a database connection.
 */
@ApplicationScoped
public class Waiting {
  /** The polling interval, because a signal of another replica may be lost. */
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
   * Checks the state now, on the caller's thread, and after each signal, until there is a result or
   * the timeout expires.
   *
   * @param look reads the state; runs on a worker thread; empty means "not yet"
   * @param atTimeout the result at the timeout; runs on a worker thread
   */
  public <T> Uni<T> until(
      String topic, Duration timeout, Supplier<Optional<T>> look, Supplier<T> atTimeout) {
    return until(topic, timeout, LOOK, look, atTimeout);
  }

  /**
   * @param every polling interval without a signal
   */
  public <T> Uni<T> until(
      String topic,
      Duration timeout,
      Duration every,
      Supplier<Optional<T>> look,
      Supplier<T> atTimeout) {
    return until(List.of(topic), timeout, every, look, atTimeout);
  }

  /**
   * @param topics a signal on any of them is a change
   */
  public <T> Uni<T> until(
      List<String> topics,
      Duration timeout,
      Duration every,
      Supplier<Optional<T>> look,
      Supplier<T> atTimeout) {
    return attempt(topics, end(timeout), every, look, atTimeout);
  }

  /**
   * Like {@link #until}, without the first check, for work that has only just begun.
   *
   * @param change from {@link Signals#next}, called before the work began
   */
  public <T> Uni<T> afterChange(
      CompletableFuture<Void> change,
      String topic,
      Duration timeout,
      Supplier<Optional<T>> look,
      Supplier<T> atTimeout) {
    End end = end(timeout);
    return pause(change, end, LOOK)
        .chain(() -> attempt(List.of(topic), end, LOOK, look, atTimeout));
  }

  /** Whether this process is about to stop, so that clients should wait on another replica. */
  public boolean isEnding() {
    return draining.isOn();
  }

  /**
   * When a wait ends.
   *
   * @param nanos System.nanoTime
   * @param early whether the wait began before the drain
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
      List<String> topics,
      End end,
      Duration every,
      Supplier<Optional<T>> look,
      Supplier<T> atTimeout) {
    return Uni.createFrom()
        .deferred(
            () -> {
              CompletableFuture<Void> change = next(topics);
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
                  .chain(() -> attempt(topics, end, every, look, atTimeout));
            });
  }

  /** The next signal on any of the topics. */
  private CompletableFuture<Void> next(List<String> topics) {
    if (topics.size() == 1) {
      return signals.next(topics.get(0));
    }
    List<CompletableFuture<Void>> all = topics.stream().map(signals::next).toList();
    CompletableFuture<Void> any = new CompletableFuture<>();
    all.forEach(each -> each.whenComplete((nothing, failure) -> any.complete(null)));
    any.whenComplete((nothing, failure) -> all.forEach(each -> each.cancel(false)));
    return any;
  }

  /** Waits for the change, at most until the end and at most for the given time. */
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
