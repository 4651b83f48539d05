package dev.roost.api;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.EnumMap;
import java.util.Map;

/** Counts problem documents by code. */
@ApplicationScoped
public class Rejections {
  private final Map<ErrorCode, Counter> counters = new EnumMap<>(ErrorCode.class);

  Rejections(MeterRegistry registry) {
    for (ErrorCode code : ErrorCode.values()) {
      counters.put(
          code,
          Counter.builder("roost.requests.rejected")
              .description("Requests that were answered with a problem document")
              .tag("code", code.code())
              .register(registry));
    }
  }

  /** Creates the bean at startup, so that its series exist from the start, with zeros. */
  void start(@Observes StartupEvent event) {}

  public void count(Problem problem) {
    counters.get(problem.code()).increment();
  }
}
