package dev.roost.datastore;

import dev.roost.api.JsonText;
import java.util.function.Function;

/** Whether a write was executed now, or before. */
public sealed interface WriteOutcome<T> {
  /** The write was executed by this request. */
  record Executed<T>(T result) implements WriteOutcome<T> {}

  /**
   * The write was executed before.
   *
   * @param answer to the first request
   */
  record Repeated<T>(JsonText answer) implements WriteOutcome<T> {}

  /** The answer: the recorded one, or one for the result. */
  default Object answer(Function<T, Object> forResult) {
    if (this instanceof Repeated<T> repeated) {
      return repeated.answer();
    }
    return forResult.apply(result());
  }

  /** The result of a write that has no idempotency record, and so can't be a repetition. */
  default T result() {
    if (this instanceof Executed<T> executed) {
      return executed.result();
    }
    throw new IllegalStateException("a repeated write has an answer, and no result");
  }

  default <R> WriteOutcome<R> map(Function<T, R> function) {
    return this instanceof Repeated<T> repeated
        ? new Repeated<>(repeated.answer())
        : new Executed<>(function.apply(result()));
  }
}
