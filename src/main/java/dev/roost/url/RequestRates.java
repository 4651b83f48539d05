package dev.roost.url;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Counts the requests to each agent's URL in the current minute, in the memory of this replica: a
 * count in the database would cost a write for each refused request.
 */
@ApplicationScoped
class RequestRates {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final long MINUTE = 60;

  private final LongSupplier nanoTime;
  private final Cache<String, Minute> counts =
      Caffeine.newBuilder().expireAfterAccess(Duration.ofMinutes(2)).build();

  @Inject
  RequestRates() {
    this(System::nanoTime);
  }

  RequestRates(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  private static final class Minute {
    private long number = Long.MIN_VALUE;
    private int requests;

    synchronized boolean count(long now, int most) {
      if (number != now) {
        number = now;
        requests = 0;
      }
      return requests < most && ++requests > 0;
    }
  }

  /**
   * Counts a request.
   *
   * @param most per minute; null: no limit
   * @throws Problem rate_limited
   */
  void count(String agentId, Integer most) {
    if (most == null) {
      return;
    }
    long seconds = Math.floorDiv(nanoTime.getAsLong(), NANOS_PER_SECOND);
    Minute minute = counts.get(agentId, id -> new Minute());
    if (!minute.count(Math.floorDiv(seconds, MINUTE), most)) {
      throw Problem.retryLater(
          ErrorCode.RATE_LIMITED,
          "This URL has reached its limit of %,d requests per minute.".formatted(most),
          MINUTE - Math.floorMod(seconds, MINUTE));
    }
  }
}
