package dev.roost.api;

/** The number of requests of one sender in the current minute. */
final class RequestCount {
  private long minute;
  private int requests;

  /**
   * @param limit 0: no limit
   * @param sender begins the sentence of the problem
   * @throws Problem rate_limited
   */
  synchronized void add(int limit, String sender) {
    if (limit == 0) {
      return;
    }
    long seconds = System.nanoTime() / 1_000_000_000L;
    if (minute != seconds / 60) {
      minute = seconds / 60;
      requests = 0;
    }
    if (++requests > limit) {
      throw Problem.retryLater(
          ErrorCode.RATE_LIMITED,
          "%s has reached its limit of %,d requests per minute.".formatted(sender, limit),
          60 - seconds % 60);
    }
  }

  /** Whether nothing of the current minute is lost with this. */
  synchronized boolean isOver() {
    return minute != System.nanoTime() / 1_000_000_000L / 60;
  }
}
