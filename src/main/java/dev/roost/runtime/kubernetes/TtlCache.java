package dev.roost.runtime.kubernetes;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Caches answers for a short time: reconcilers run many times a second, and requests for mere
 * explanations would load the API server.
 */
final class TtlCache {
  private final long ageNanos;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  TtlCache(long ageNanos) {
    this.ageNanos = ageNanos;
  }

  private record Answer(long readAt, Optional<String> text) {}

  Optional<String> get(String key, Supplier<Optional<String>> load) {
    long now = System.nanoTime();
    answers.values().removeIf(answer -> now - answer.readAt() >= ageNanos);
    Answer known = answers.get(key);
    if (known != null) {
      return known.text();
    }
    Optional<String> text = load.get();
    answers.put(key, new Answer(now, text));
    return text;
  }
}
