package dev.roost.executor;

/** What a poll is answered. */
sealed interface Answer {
  record Some(Work work) implements Answer {}

  /** Nothing to do now: ask again. */
  record None() implements Answer {}

  /** Nothing to do any more: exit. */
  record Stop() implements Answer {}
}
