package dev.roost.metrics;

import dev.roost.api.Storage;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import dev.roost.state.BuilderJobState;
import dev.roost.state.DeliveryState;
import dev.roost.state.ExecutionState;
import dev.roost.state.ExecutorJobState;
import dev.roost.state.ExecutorState;
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
    gauge("roost.database.reachable", "1 if the database responds, 0 otherwise", null)
        .is(() -> numbers.isReachable() ? 1 : 0);
    for (String kind : List.of("build", "retry_delay", "concurrency", "executor")) {
      gauge("roost.executor.jobs.queued", "ExecutorJobs that are queued", null)
          .tag("waiting_on", kind)
          .is(() -> numbers.count("job", kind));
      gauge(
              "roost.executor.jobs.oldest.age",
              "Time that the oldest queued ExecutorJob has waited",
              SECONDS)
          .tag("waiting_on", kind)
          .is(() -> numbers.seconds("job", kind));
    }
    gauge("roost.executor.jobs.suspended", "ExecutorJobs that are suspended", null)
        .is(() -> numbers.count("job", ExecutorJobState.SUSPENDED.code()));
    gauge("roost.executions.running", "Executions that are running", null)
        .is(() -> numbers.count("execution", ExecutionState.RUNNING.code()));
    String starting = ExecutorState.STARTING.code();
    String stopping = ExecutorState.STOPPING.code();
    for (String state : List.of(starting, "pooled", "idle", "working", stopping)) {
      gauge("roost.executors", "Executors, by state", null)
          .tag("state", state)
          .is(() -> numbers.count("executor", state));
    }
    gauge("roost.executors.limit", "The runtime's capacity of executors", null)
        .is(() -> runtime.describe().maxExecutors());
    for (BuilderJobState open : List.of(BuilderJobState.QUEUED, BuilderJobState.RUNNING)) {
      String state = open.code();
      gauge("roost.builder.jobs", "BuilderJobs that have not ended", null)
          .tag("state", state)
          .is(() -> numbers.count("build", state));
      gauge(
              "roost.builder.jobs.oldest.age",
              "Time that the oldest BuilderJob has been in its state",
              SECONDS)
          .tag("state", state)
          .is(() -> numbers.seconds("build", state));
    }
    gauge("roost.webhook.deliveries.pending", "Pending deliveries to webhooks", null)
        .is(() -> numbers.count("delivery", DeliveryState.PENDING.code()));
    gauge("roost.webhook.deliveries.oldest.age", "Age of the oldest pending delivery", SECONDS)
        .is(() -> numbers.seconds("delivery", DeliveryState.PENDING.code()));
    gauge("roost.schedules.overdue", "Schedules that are due and have not run", null)
        .is(() -> numbers.count("schedule", "due"));
    gauge(
            "roost.schedules.oldest.age",
            "Time that the first of the due schedules has been due",
            SECONDS)
        .is(() -> numbers.seconds("schedule", "due"));
    storage();
  }

  private void storage() {
    RoostConfig.Storage limits = config.storage();
    area("logs", () -> storage.usage().logBytes(), limits.logBytes());
    area("payloads", () -> storage.usage().payloadBytes(), limits.payloadBytes());
    area("stores", () -> storage.usage().storeBytes(), limits.storeBytes());
    area("files", () -> storage.usage().fileBytes(), limits.fileBytes());
    gauge(
            "roost.storage.full",
            "1 if new jobs or entries are rejected because storage is full, 0 otherwise",
            null)
        .is(() -> storage.usage().full() == null ? 0 : 1);
    gauge(
            "roost.storage.disk.free",
            "Free space on the disk of the data directory; NaN if it is not monitored",
            BYTES)
        .is(
            () -> {
              Long free = storage.usage().freeBytes();
              return free == null ? Double.NaN : (double) free;
            });
    gauge(
            "roost.storage.disk.reserve",
            "Required free space on the disk of the data directory",
            BYTES)
        .is(limits::freeBytes);
  }

  private void area(String name, Supplier<Number> used, long limit) {
    gauge("roost.storage.used", "Approximate size of stored data", BYTES)
        .tag("area", name)
        .is(used);
    gauge("roost.storage.limit", "Limit of stored data; +Inf if unlimited", BYTES)
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
