package dev.roost.runtime.kubernetes;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Answers that may be a little old: a reconciler looks many times a second, and what only explains
 * is not worth as many questions.
 */
final class TtlCache {
  private final long ageNanos;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  TtlCache(long ageNanos) {
    this.ageNanos = ageNanos;
  }

  private record Answer(long readAt, Optional<String> text) {}

  Optional<String> get(String key, Supplier<Optional<String>> ask) {
    long now = System.nanoTime();
    answers.values().removeIf(answer -> now - answer.readAt() >= ageNanos);
    Answer known = answers.get(key);
    if (known != null) {
      return known.text();
    }
    Optional<String> text = ask.get();
    answers.put(key, new Answer(now, text));
    return text;
  }
}
