package dev.roost.executor;

/** What a poll is answered. */
sealed interface PollAnswer {
  record Some(Work work) implements PollAnswer {}

  /** Nothing to do now: ask again. */
  record None() implements PollAnswer {}

  /** Nothing to do any more: exit. */
  record Stop() implements PollAnswer {}
}
