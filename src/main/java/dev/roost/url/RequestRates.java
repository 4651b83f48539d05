package dev.roost.url;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.roost.api.Problem;
import dev.roost.api.RequestCount;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.function.LongSupplier;

/** Counts the requests to each agent's URL in the current minute. */
@ApplicationScoped
class RequestRates {
  private final LongSupplier nanoTime;
  private final Cache<String, RequestCount> counts =
      Caffeine.newBuilder().expireAfterAccess(Duration.ofMinutes(2)).build();

  @Inject
  RequestRates() {
    this(System::nanoTime);
  }

  RequestRates(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
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
    counts.get(agentId, id -> new RequestCount()).add(nanoTime.getAsLong(), most, "This URL");
  }
}
