package dev.roost.trace;

import io.opentelemetry.sdk.trace.IdGenerator;
import jakarta.inject.Singleton;
import java.util.function.Supplier;

/**
 * Identifiers of spans: random, except for an execution's, which the script needs before the span
 * is created, and which any replica may have to create.
 */
@Singleton
class GivenIds implements IdGenerator {
  private final IdGenerator random = IdGenerator.random();
  private final ThreadLocal<Given> given = new ThreadLocal<>();

  private record Given(String traceId, String spanId) {}

  /** Sets the identifiers of the span that {@code span} creates. */
  <T> T with(String traceId, String spanId, Supplier<T> span) {
    given.set(new Given(traceId, spanId));
    try {
      return span.get();
    } finally {
      given.remove();
    }
  }

  @Override
  public String generateSpanId() {
    Given now = given.get();
    return now == null ? random.generateSpanId() : now.spanId();
  }

  @Override
  public String generateTraceId() {
    Given now = given.get();
    return now == null ? random.generateTraceId() : now.traceId();
  }
}
