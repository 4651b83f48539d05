package dev.roost.api;

/**
 * The number of requests of one sender in the current minute, in the memory of this replica: a
 * count in the database would cost a write for each refused request.
 */
public final class RequestCount {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final long MINUTE = 60;

  private long minute = Long.MIN_VALUE;
  private int requests;

  /**
   * Counts a request.
   *
   * @param nanoTime as of {@link System#nanoTime}
   * @param limit 0: no limit
   * @param sender begins the sentence of the problem
   * @throws Problem rate_limited
   */
  public synchronized void add(long nanoTime, int limit, String sender) {
    if (limit == 0) {
      return;
    }
    long seconds = Math.floorDiv(nanoTime, NANOS_PER_SECOND);
    long now = Math.floorDiv(seconds, MINUTE);
    if (minute != now) {
      minute = now;
      requests = 0;
    }
    if (requests == limit) {
      throw Problem.retryLater(
          ErrorCode.RATE_LIMITED,
          "%s has reached its limit of %,d requests per minute.".formatted(sender, limit),
          MINUTE - Math.floorMod(seconds, MINUTE));
    }
    requests++;
  }
}
