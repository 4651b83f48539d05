package dev.roost.builds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Ids;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.log.LogRepository;
import dev.roost.runtime.Capacity;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.BuildOutput;
import dev.roost.runtime.Runtime.BuildSpec;
import dev.roost.runtime.Runtime.NoCapacity;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.runtime.RuntimeChanged;
import dev.roost.runtime.Step;
import dev.roost.state.BuilderJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * Starts, observes and ends builds. Of the BuilderJobs with the same image key, one builds and the
 * others wait for its result.
 */
@ApplicationScoped
public class BuilderReconciler {
  private static final Logger LOG = Logger.getLogger(BuilderReconciler.class);
  private static final Duration WHILE_BUILDING = Duration.ofMillis(100);
  private static final Duration AT_REST = Duration.ofSeconds(5);
  private static final Duration UNAVAILABLE_PAUSE = Duration.ofSeconds(1);

  /** How long a build may take beyond its own timeout to report that timeout. */
  private static final Duration GRACE = Duration.ofSeconds(30);

  /** Slightly less than the time that the Kubernetes Job lives beyond the build timeout. */
  private static final Duration JOB_WAITS = Duration.ofSeconds(100);

  private static final int MAX_MESSAGE = 8_192;

  private final Runtime runtime;
  private final Bases bases;
  private final RoostConfig config;
  private final Capacity capacity;
  private final LogRepository log;
  private final Signals signals;
  private final Event<BuilderJobEnded> ended;
  private final Clock clock;
  private final ObjectMapper mapper;

  /** Whether a request to the runtime failed in this pass. */
  private boolean unavailable;

  /**
   * Whether this process has completed work that a process of an earlier version may have omitted.
   */
  private boolean caughtUp;

  private final Loop loop;

  BuilderReconciler(
      Runtime runtime,
      Bases bases,
      RoostConfig config,
      Capacity capacity,
      LogRepository log,
      Signals signals,
      Event<BuilderJobEnded> ended,
      Clock clock,
      ObjectMapper mapper,
      Loops loops) {
    this.runtime = runtime;
    this.bases = bases;
    this.config = config;
    this.capacity = capacity;
    this.log = log;
    this.signals = signals;
    this.ended = ended;
    this.clock = clock;
    this.mapper = mapper;
    this.loop = loops.make("builder-reconciler", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    loop.stop();
  }

  void wake(@Observes BuilderJobsChanged event) {
    loop.wake();
  }

  void wake(@Observes RuntimeChanged event) {
    loop.wake();
  }

  /**
   * Decides the next step of the BuilderJob that leads its image key.
   *
   * @param observation null for a queued BuilderJob, which has nothing to observe yet
   * @param free whether another build may start now
   * @param limits how long the BuilderJob may run and wait
   */
  static Step decide(
      BuilderJob job, Observation observation, boolean free, Limits limits, Instant now) {
    if (job.state == BuilderJobState.QUEUED) {
      return free ? new Step.Create() : new Step.Wait();
    }
    if (observation instanceof Observation.Ended end) {
      String reason = end.reason() == null ? BuildReason.LOST.code() : end.reason();
      return end.result() == null
          ? new Step.Finish(reason, end.message(), null)
          : new Step.Finish(null, end.message(), end.result());
    }
    if (observation instanceof Observation.Pending pending
        && pending.reason() != null
        && job.startedAt.plus(limits.pending()).isBefore(now)) {
      return new Step.Finish(pending.reason(), pending.message(), null);
    }
    if (job.startedAt.plus(limits.timeout()).plus(GRACE).isBefore(now)) {
      String message = "The build did not end within " + limits.timeout().toSeconds() + " s.";
      return new Step.Finish(BuildReason.DEADLINE_EXCEEDED.code(), message, null);
    }
    // Absent: the start never happened, or the build was removed. Building again is harmless.
    return observation instanceof Observation.Absent ? new Step.Create() : new Step.Wait();
  }

  /**
   * @param timeout of the build
   * @param pending how long the build may wait for a machine, an image or quota
   */
  record Limits(Duration timeout, Duration pending) {}

  private Duration pass() {
    if (!caughtUp) {
      QuarkusTransaction.requiringNew().run(BuilderJob::runWhatIsBuilt);
      caughtUp = true;
    }
    List<BuilderJob> open = QuarkusTransaction.requiringNew().call(BuilderJob::open);
    Set<String> openIds = new HashSet<>();
    open.forEach(job -> openIds.add(job.id));
    capacity.keep("bjob_", openIds);
    for (String leftover : runtime.builderJobs()) {
      if (!openIds.contains(leftover) && !isOpen(leftover)) {
        remove(leftover);
      }
    }
    int running = (int) open.stream().filter(job -> job.state == BuilderJobState.RUNNING).count();
    // Running BuilderJobs come first: a job created earlier may have been committed later.
    Set<String> led = new HashSet<>();
    for (BuilderJob job : open) {
      if (led.add(job.imageKey)) {
        if (job.state == BuilderJobState.QUEUED && reuse(job)) {
          led.remove(job.imageKey); // the next job of this key is reused as well
        } else if (act(job, running < config.builds().concurrency())) {
          running++;
        }
      }
    }
    boolean pause = unavailable;
    unavailable = false;
    if (open.isEmpty()) {
      return AT_REST;
    }
    return pause ? UNAVAILABLE_PAUSE : WHILE_BUILDING;
  }

  /** Detects a BuilderJob that the previous leader started after this pass had begun. */
  private static boolean isOpen(String builderJobId) {
    return QuarkusTransaction.requiringNew().call(() -> BuilderJob.isOpen(builderJobId));
  }

  /** A failed removal is repeated in the next pass. */
  private void remove(String builderJobId) {
    try {
      runtime.deleteBuilderJob(builderJobId);
    } catch (RuntimeUnavailable e) {
      unavailable = true;
      LOG.warnf("build %s cannot be removed: %s", builderJobId, e.getMessage());
    }
  }

  private boolean reuse(BuilderJob job) {
    if (!runtime.hasBuild(job.imageKey)) {
      return false;
    }
    Instant now = clock.instant();
    boolean reused =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  BuilderJob.lockAgent(job.id);
                  return Build.ofKey(job.imageKey)
                      .map(build -> BuilderJob.succeed(job.id, build.id, true, now))
                      .orElse(false);
                });
    if (reused) {
      tellEnd(job);
    }
    return reused;
  }

  /** Records what a build waits for, so that clients can see the reason. */
  private void explain(BuilderJob job, String message) {
    if (!Objects.equals(job.message, message)) {
      QuarkusTransaction.requiringNew().run(() -> BuilderJob.explain(job.id, shorten(message)));
      signals.fire(job.id);
    }
  }

  /** Returns whether a build was started. */
  private boolean act(BuilderJob job, boolean free) {
    try {
      Observation observation = null;
      if (job.state == BuilderJobState.RUNNING) {
        observation = runtime.observeBuild(job.id);
        takeLog(job);
      }
      if (observation instanceof Observation.Pending pending) {
        explain(job, pending.message());
        if (pending.shortage() != null) {
          waitForCapacity(job, pending);
          return false;
        }
      } else if (observation instanceof Observation.Running) {
        explain(job, null);
      }
      if (observation != null) {
        capacity.suffices(job.id);
      } else if (!capacity.isTriedAgain(job.id, clock.instant())) {
        return false;
      }
      Limits limits = new Limits(config.builds().timeout(), config.executors().pendingTimeout());
      Step step = decide(job, observation, free, limits, clock.instant());
      if (step instanceof Step.Create) {
        return create(job);
      } else if (step instanceof Step.Finish finish) {
        takeLog(job);
        finish(job, finish);
      }
    } catch (NoCapacity e) {
      capacity.lacks(job.id, e.shortage(), clock.instant());
      putBack(job, e.getMessage());
    } catch (RuntimeUnavailable e) {
      unavailable = true;
      LOG.warnf("build %s: %s", job.id, e.getMessage());
      explain(job, e.getMessage());
    } catch (Runtime.UnsupportedPython e) {
      finish(
          job,
          new Step.Finish(BuildReason.PYTHON_VERSION_UNAVAILABLE.code(), e.getMessage(), null));
    }
    return false;
  }

  /**
   * Keeps the BuilderJob waiting without a time limit. The time limit of its Kubernetes Job counts
   * from the Job's start, so the Job is replaced in time.
   */
  private void waitForCapacity(BuilderJob job, Observation.Pending pending) {
    Instant now = clock.instant();
    capacity.lacks(job.id, pending.shortage(), now);
    if (capacity.isTriedAgain(job.id, now) || job.startedAt.plus(JOB_WAITS).isBefore(now)) {
      runtime.deleteBuilderJob(job.id);
      putBack(job, pending.message());
      capacity.forget(job.id);
    }
  }

  private void putBack(BuilderJob job, String message) {
    QuarkusTransaction.requiringNew().run(() -> BuilderJob.putBack(job.id, shorten(message)));
    signals.fire(job.id);
  }

  private boolean create(BuilderJob job) {
    BuildInputs inputs = bases.inputs(job);
    if (!inputs.imageKey().equals(job.imageKey)) {
      // A Build of the new key may exist already; the next pass checks.
      QuarkusTransaction.requiringNew().run(() -> BuilderJob.change(job.id, inputs));
      loop.wake();
      return false;
    }
    Instant now = clock.instant();
    if (job.state == BuilderJobState.QUEUED
        && !QuarkusTransaction.requiringNew()
            .call(() -> !Build.isGoing(job.imageKey) && BuilderJob.start(job.id, now))) {
      return false;
    }
    capacity.tried(job.id, now);
    runtime.startBuild(
        new BuildSpec(
            job.id,
            job.agentId,
            job.imageKey,
            inputs.base(),
            job.pythonVersion,
            inputs.requirements(),
            config.builds().timeout().toSeconds()));
    signals.fire(job.id);
    return true;
  }

  private void takeLog(BuilderJob job) {
    while (true) {
      BuildOutput output = runtime.buildOutput(job.id, job.logOffset);
      if (output.lines().isEmpty()) {
        return;
      }
      Instant now = clock.instant();
      QuarkusTransaction.requiringNew()
          .run(
              () -> {
                log.append(job.id, BuildLines.entries(log.last(job.id), output.lines(), now));
                BuilderJob.update("logOffset = ?1 where id = ?2", output.next(), job.id);
              });
      job.logOffset = output.next();
      signals.fire(job.id);
    }
  }

  private void finish(BuilderJob job, Step.Finish finish) {
    Instant now = clock.instant();
    Optional<JsonNode> result = parse(finish.result());
    boolean succeeded =
        result.map(node -> node.path("outcome").asText().equals("succeeded")).orElse(false);
    BuildModules modules = BuildModules.of(result.orElse(mapper.missingNode()), mapper);
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              BuilderJob.lockAgent(job.id);
              if (succeeded) {
                Build build =
                    Build.toRemake(job.imageKey)
                        .map(known -> rebuilt(known, job, result.get()))
                        .orElseGet(() -> insertBuild(job, result.get(), now));
                BuildModules.store(build.id, modules);
                BuilderJob.succeed(job.id, build.id, false, now);
              } else {
                String reason =
                    result.map(node -> node.path("reason").textValue()).orElse(finish.reason());
                String message =
                    result.map(node -> node.path("message").textValue()).orElse(finish.message());
                BuilderJob.fail(
                    job.id,
                    reason == null ? BuildReason.LOST.code() : reason,
                    shorten(message),
                    now);
              }
            });
    tellEnd(job);
    remove(job.id);
    capacity.freed(now);
  }

  private static Build rebuilt(Build build, BuilderJob job, JsonNode result) {
    return build.rebuilt(
        result.path("image").textValue(),
        base(job, result),
        result.path("packages").toString(),
        result.path("size_bytes").asLong());
  }

  /** For a base image, the builder reports the digest of the image. */
  private static String base(BuilderJob job, JsonNode result) {
    String base = result.path("base").textValue();
    return base == null ? job.base : base;
  }

  private static Build insertBuild(BuilderJob job, JsonNode result, Instant now) {
    Build build = new Build();
    build.id = Ids.next("build");
    build.imageKey = job.imageKey;
    build.image = result.path("image").textValue();
    build.pythonVersion = job.pythonVersion;
    build.base = base(job, result);
    build.packages = result.path("packages").toString();
    build.sizeBytes = result.path("size_bytes").asLong();
    build.durationSeconds = Duration.between(job.startedAt, now).toNanos() / 1e9;
    build.createdAt = now;
    build.persistAndFlush(); // Hibernate would not flush this before the update that follows.
    return build;
  }

  private Optional<JsonNode> parse(String result) {
    if (result == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(mapper.readTree(result));
    } catch (JsonProcessingException e) {
      LOG.warnf("a builder's result is not valid JSON: %s", e.getMessage());
      return Optional.empty();
    }
  }

  private void tellEnd(BuilderJob job) {
    signals.fire(job.id);
    ended.fire(new BuilderJobEnded(job.id, job.agentId, job.agentRevision));
    loop.wake();
  }

  private static String shorten(String message) {
    return message == null || message.length() <= MAX_MESSAGE
        ? message
        : message.substring(0, MAX_MESSAGE) + "…";
  }
}
