package dev.roost.oauth;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jose4j.jwk.JsonWebKey;

/**
 * The last known keys of the issuer, which go on working while the issuer can't be reached. An
 * unknown key makes a request to the issuer, but at most one per {@link #PAUSE}, whoever sends
 * tokens; one thread at most waits for the response.
 */
final class IssuerKeys {
  /** Between the beginnings of two requests to the issuer. */
  static final Duration PAUSE = Duration.ofSeconds(10);

  /** Removes keys that the issuer has withdrawn. */
  private static final Duration OLD = Duration.ofMinutes(10);

  private static final Duration WAIT = Duration.ofSeconds(6);
  private static final Logger LOG = Logger.getLogger(IssuerKeys.class);

  private final Supplier<CompletableFuture<List<JsonWebKey>>> source;
  private final LongSupplier nanoTime;
  private volatile List<JsonWebKey> known = List.of();
  private boolean hasBegun;
  private long begunAt;
  private boolean isRunning;
  private boolean hasFailed;

  IssuerKeys(Supplier<CompletableFuture<List<JsonWebKey>>> source, LongSupplier nanoTime) {
    this.source = source;
    this.nanoTime = nanoTime;
  }

  /**
   * The keys, with the wanted one if the issuer has it. May block for {@link #WAIT}.
   *
   * @param keyId {@code kid} of the token; null: any
   * @throws KeysMissing no keys are known, or the wanted key may be among those being received
   */
  List<JsonWebKey> with(String keyId) throws KeysMissing {
    if (has(keyId)) {
      refreshIf(OLD);
      return known;
    }
    CompletableFuture<?> refresh = refreshIf(PAUSE);
    if (refresh != null) {
      waitFor(refresh);
    } else if (!has(keyId) && isRunning()) {
      throw new KeysMissing();
    }
    if (known.isEmpty()) {
      throw new KeysMissing();
    }
    return known;
  }

  private boolean has(String keyId) {
    List<JsonWebKey> keys = known;
    return keyId == null
        ? !keys.isEmpty()
        : keys.stream().anyMatch(key -> Objects.equals(key.getKeyId(), keyId));
  }

  private synchronized boolean isRunning() {
    return isRunning;
  }

  /** Begins a request unless one runs or has begun within that time; null: none was begun. */
  CompletableFuture<?> refreshIf(Duration age) {
    synchronized (this) {
      long now = nanoTime.getAsLong();
      // After a failure, old keys are asked for again sooner.
      Duration least = hasFailed ? PAUSE : age;
      if (isRunning || hasBegun && now - begunAt < least.toNanos()) {
        return null;
      }
      hasBegun = true;
      begunAt = now;
      isRunning = true;
    }
    CompletableFuture<List<JsonWebKey>> keys;
    try {
      keys = source.get();
    } catch (RuntimeException e) {
      keys = CompletableFuture.failedFuture(e);
    }
    return keys.handle(this::ended);
  }

  private Void ended(List<JsonWebKey> keys, Throwable e) {
    if (e == null) {
      known = keys;
    } else {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      LOG.warnf("the keys of roost.oauth.issuer cannot be received: %s", cause);
    }
    synchronized (this) {
      isRunning = false;
      hasFailed = e != null;
    }
    return null;
  }

  private static void waitFor(CompletableFuture<?> refresh) {
    try {
      refresh.get(WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.debugf("a token waits no longer for the keys of the issuer: %s", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
