package dev.roost.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.prometheus.client.CollectorRegistry;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * Keeps what is measured. Quarkus would make one, too, and serve it to everyone on the API's port;
 * docs/decisions/0033 says why it must not.
 */
class Registry {
  @Produces
  @Singleton
  PrometheusMeterRegistry registry() {
    return new PrometheusMeterRegistry(
        PrometheusConfig.DEFAULT, new CollectorRegistry(), Clock.SYSTEM);
  }
}
