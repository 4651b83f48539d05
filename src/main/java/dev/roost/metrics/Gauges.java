package dev.roost.metrics;

import dev.roost.api.Storage;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.List;
import java.util.function.Supplier;

/** Gauges of the database's and the disk's contents, with their limits. */
@ApplicationScoped
class Gauges {
  private static final String SECONDS = "seconds";
  private static final String BYTES = "bytes";

  private final MeterRegistry registry;
  private final DatabaseNumbers numbers;
  private final Storage storage;
  private final RoostConfig config;
  private final Runtime runtime;

  Gauges(
      MeterRegistry registry,
      DatabaseNumbers numbers,
      Storage storage,
      RoostConfig config,
      Runtime runtime) {
    this.registry = registry;
    this.numbers = numbers;
    this.storage = storage;
    this.config = config;
    this.runtime = runtime;
  }

  void start(@Observes StartupEvent event) {
    gauge("roost.database.reachable", "1: the database answers; 0: it doesn't", null)
        .is(() -> numbers.isReachable() ? 1 : 0);
    for (String kind : List.of("build", "retry_delay", "concurrency", "executor")) {
      gauge("roost.executor.jobs.queued", "ExecutorJobs that wait", null)
          .tag("waiting_on", kind)
          .is(() -> numbers.count("queued", kind));
      gauge("roost.executor.jobs.oldest.age", "How long the oldest of them has waited", SECONDS)
          .tag("waiting_on", kind)
          .is(() -> numbers.seconds("queued", kind));
    }
    gauge("roost.executions.running", "Executions that run", null)
        .is(() -> numbers.count("execution", "running"));
    for (String state : List.of("starting", "idle", "working", "stopping")) {
      gauge("roost.executors", "Executors that exist", null)
          .tag("state", state)
          .is(() -> numbers.count("executor", state));
    }
    gauge("roost.executors.limit", "How many executors the runtime has room for", null)
        .is(() -> runtime.describe().maxExecutors());
    for (String state : List.of("queued", "running")) {
      gauge("roost.builder.jobs", "BuilderJobs that have not ended", null)
          .tag("state", state)
          .is(() -> numbers.count("build", state));
      gauge("roost.builder.jobs.oldest.age", "How long the oldest is in that state", SECONDS)
          .tag("state", state)
          .is(() -> numbers.seconds("build", state));
    }
    gauge("roost.webhook.deliveries.pending", "Deliveries to webhooks that have not ended", null)
        .is(() -> numbers.count("delivery", "pending"));
    gauge("roost.webhook.deliveries.oldest.age", "How old the oldest of them is", SECONDS)
        .is(() -> numbers.seconds("delivery", "pending"));
    gauge("roost.schedules.overdue", "Schedules that are due and have not run", null)
        .is(() -> numbers.count("schedule", "due"));
    gauge("roost.schedules.oldest.age", "How long the first of them has been due", SECONDS)
        .is(() -> numbers.seconds("schedule", "due"));
    storage();
  }

  private void storage() {
    RoostConfig.Storage limits = config.storage();
    area("logs", () -> storage.usage().logBytes(), limits.logBytes());
    area("payloads", () -> storage.usage().payloadBytes(), limits.payloadBytes());
    area("stores", () -> storage.usage().storeBytes(), limits.storeBytes());
    gauge("roost.storage.full", "1: new jobs or entries are refused; 0: they are not", null)
        .is(() -> storage.usage().full() == null ? 0 : 1);
    gauge("roost.storage.disk.free", "Left on the data directory's disk; NaN: not watched", BYTES)
        .is(
            () -> {
              Long free = storage.usage().freeBytes();
              return free == null ? Double.NaN : (double) free;
            });
    gauge("roost.storage.disk.reserve", "What is to stay free of it", BYTES).is(limits::freeBytes);
  }

  private void area(String name, Supplier<Number> used, long limit) {
    gauge("roost.storage.used", "What is stored, about", BYTES).tag("area", name).is(used);
    gauge("roost.storage.limit", "How much may be stored; +Inf: unlimited", BYTES)
        .tag("area", name)
        .is(() -> limit == 0 ? Double.POSITIVE_INFINITY : (double) limit);
  }

  private Definition gauge(String name, String description, String unit) {
    return new Definition(name, description, unit);
  }

  private final class Definition {
    private final String name;
    private final String description;
    private final String unit;
    private String[] tags = {};

    Definition(String name, String description, String unit) {
      this.name = name;
      this.description = description;
      this.unit = unit;
    }

    Definition tag(String key, String value) {
      tags = new String[] {key, value};
      return this;
    }

    void is(Supplier<Number> value) {
      Gauge.builder(name, value)
          .description(description)
          .baseUnit(unit)
          .tags(tags)
          .register(registry);
    }
  }
}
