package dev.roost.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.prometheus.client.CollectorRegistry;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * The registry of metrics. Quarkus' own registry would be public on the API's port;
 * docs/decisions/0033 explains why it must not be.
 */
class Registry {
  @Produces
  @Singleton
  PrometheusMeterRegistry registry() {
    return new PrometheusMeterRegistry(
        PrometheusConfig.DEFAULT, new CollectorRegistry(), Clock.SYSTEM);
  }
}
