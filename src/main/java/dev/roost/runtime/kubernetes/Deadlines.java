package dev.roost.runtime.kubernetes;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Deadlines of actions that fail repeatedly, by identifier. */
final class Deadlines {
  private final long limitNanos;
  private final Map<String, Long> since = new ConcurrentHashMap<>();

  Deadlines(Duration limit) {
    this.limitNanos = limit.toNanos();
  }

  /** Whether the deadline has passed; the first call starts it. */
  boolean isOver(String id) {
    long now = System.nanoTime();
    return now - since.computeIfAbsent(id, key -> now) >= limitNanos;
  }

  void forget(String id) {
    since.remove(id);
  }
}
