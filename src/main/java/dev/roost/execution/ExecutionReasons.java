package dev.roost.execution;

import dev.roost.api.ErrorTexts;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Arrays;

/** The reasons as a table of the page {@code /docs/errors}. */
class ExecutionReasons {
  @Produces
  @Singleton
  ErrorTexts table() {
    return new ErrorTexts(
        "execution-reasons",
        2,
        "Why an execution fails",
        "The reason of an Execution or ExecutorJob that did not succeed. The message has details.",
        Arrays.stream(ExecutionReason.values())
            .map(reason -> new ErrorTexts.Row(reason.code(), null, "", reason.explanation()))
            .toList());
  }
}
