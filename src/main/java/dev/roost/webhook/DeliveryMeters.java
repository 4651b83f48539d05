package dev.roost.webhook;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.stream.LongStream;

/** Metrics of delivery attempts, on the replica that sends them. */
@ApplicationScoped
class DeliveryMeters {
  private static final Duration[] BUCKETS =
      LongStream.of(10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final Timer succeeded;
  private final Timer failed;

  DeliveryMeters(MeterRegistry registry) {
    succeeded = timer("succeeded", registry);
    failed = timer("failed", registry);
  }

  /** Creates this bean at the start, so that its series exist, with zeros. */
  void start(@Observes StartupEvent event) {}

  private static Timer timer(String result, MeterRegistry registry) {
    return Timer.builder("roost.webhook.attempt")
        .description(
            "Duration of attempts to deliver an event to a webhook, until the response or the timeout")
        .tag("result", result)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  void ended(EndpointResponse answer, Duration duration) {
    (answer.succeeded() ? succeeded : failed).record(duration);
  }
}
