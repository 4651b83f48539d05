package dev.roost.builds;

import dev.roost.api.ErrorTexts;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Arrays;

/** The reasons as a table of the page {@code /docs/errors}. */
class BuildReasons {
  @Produces
  @Singleton
  ErrorTexts table() {
    return new ErrorTexts(
        "build-reasons",
        1,
        "Why a build fails",
        "The reason of a BuilderJob that did not succeed. The message and the log have details.",
        Arrays.stream(BuildReason.values())
            .map(reason -> new ErrorTexts.Row(reason.code(), null, "", reason.explanation()))
            .toList());
  }
}
