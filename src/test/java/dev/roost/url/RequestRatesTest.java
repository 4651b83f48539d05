package dev.roost.url;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RequestRatesTest {
  private final AtomicLong seconds = new AtomicLong(-30);
  private final RequestRates rates = new RequestRates(() -> seconds.get() * 1_000_000_000L);

  @Test
  void eachAgentHasItsLimitInEachMinute() {
    rates.count("a", 2);
    rates.count("a", 2);
    Problem refused = assertThrows(Problem.class, () -> rates.count("a", 2));
    assertEquals(ErrorCode.RATE_LIMITED, refused.code());
    assertEquals("30", refused.headers().get("Retry-After"));
    rates.count("b", 2);
    rates.count("a", null);
    seconds.set(0);
    rates.count("a", 2);
  }
}
