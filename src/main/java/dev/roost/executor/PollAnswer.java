package dev.roost.executor;

import dev.roost.execution.Work;

/** The answer to a poll. */
sealed interface PollAnswer {
  record Some(Work work) implements PollAnswer {}

  /** No work now: poll again. */
  record None() implements PollAnswer {}

  /** No more work: exit. */
  record Stop() implements PollAnswer {}
}
