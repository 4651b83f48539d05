package dev.roost.executor;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.builds.BuilderJobEnded;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.config.RoostConfig;
import dev.roost.db.DatabaseClock;
import dev.roost.db.TransientErrors;
import dev.roost.execution.Execution;
import dev.roost.execution.ExecutionReason;
import dev.roost.execution.ExecutorOutputs;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.Outcome;
import dev.roost.log.LogEntry;
import dev.roost.runtime.Capacity;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.runtime.RuntimeChanged;
import dev.roost.runtime.Shortage;
import dev.roost.runtime.Step;
import dev.roost.state.ExecutionState;
import dev.roost.state.ExecutorState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;

/** Compares the executors that should exist with those that do, and reconciles them. */
@ApplicationScoped
public class ExecutorReconciler {
  private static final Logger LOG = Logger.getLogger(ExecutorReconciler.class);
  private static final Duration WITH_EXECUTORS = Duration.ofMillis(500);
  private static final Duration AT_REST = Duration.ofSeconds(5);
  private static final Duration UNAVAILABLE_PAUSE = Duration.ofSeconds(1);
  private static final Duration SHOW_EVERY = Duration.ofSeconds(5);

  private final Runtime runtime;
  private final RoostConfig config;
  private final Dispatcher dispatcher;
  private final ExecutorStarter starter;
  private final ExecutorPools pools;
  private final FrameIntake intake;
  private final Capacity capacity;
  private final ExecutorOutputs outputs;
  private final Clock clock;
  private final DatabaseClock databaseClock;
  private final ThrottledLog throttledLog = new ThrottledLog(LOG);
  private Map<String, String> shown = Map.of();
  private long shownAt = System.nanoTime();

  /** When each executor that has not reported yet was first seen absent or running. */
  private final Map<String, Since> since = new HashMap<>();

  /** Executors that fell silent and whose recovery is not finished. */
  private final Set<String> unheard = new HashSet<>();

  private final Loop loop;

  /**
   * @param time by the database's clock
   */
  private record Since(Class<? extends Observation> kind, Instant time) {}

  ExecutorReconciler(
      Runtime runtime,
      RoostConfig config,
      Dispatcher dispatcher,
      ExecutorStarter starter,
      ExecutorPools pools,
      FrameIntake intake,
      Capacity capacity,
      ObjectMapper mapper,
      Clock clock,
      DatabaseClock databaseClock,
      Loops loops) {
    this.runtime = runtime;
    this.config = config;
    this.dispatcher = dispatcher;
    this.starter = starter;
    this.pools = pools;
    this.intake = intake;
    this.capacity = capacity;
    this.outputs = new ExecutorOutputs(mapper, config.limits());
    this.clock = clock;
    this.databaseClock = databaseClock;
    this.loop = loops.make("executor-reconciler", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    loop.stop();
  }

  void wake(@Observes ExecutorsNeeded event) {
    loop.wake();
  }

  void wake(@Observes BuilderJobEnded event) {
    loop.wake();
  }

  void wake(@Observes RuntimeChanged event) {
    loop.wake();
  }

  /**
   * Decides what to do about an executor that has not ended. Pure.
   *
   * @param begun whether this process has started it, or has made sure that it is complete
   * @param since when this process first saw it absent, or first saw it running: time before that,
   *     or while the runtime was unavailable, doesn't count against it
   */
  static Step decide(
      Executor executor,
      Observation seen,
      boolean begun,
      RoostConfig.Executors settings,
      Instant since,
      Instant now) {
    Instant mustReport = since.plus(settings.startTimeout());
    boolean starting = executor.state == ExecutorState.STARTING;
    if (seen instanceof Observation.Ended end) {
      return new Step.Recover(end.reason(), end.message());
    }
    if (seen instanceof Observation.Absent) {
      if (starting && executor.lacksCapacity) {
        return begun ? new Step.Wait() : new Step.Create();
      }
      // The control plane may have been killed between inserting the row and the start.
      if (starting && mustReport.isAfter(now)) {
        return new Step.Create();
      }
      // Its message is why it could not be started.
      return starting && executor.message != null
          ? new Step.Recover(ExecutionReason.RUNTIME_UNAVAILABLE.code(), executor.message)
          : new Step.Recover(null, "It is gone.");
    }
    if (starting && seen instanceof Observation.Pending pending) {
      // Capacity that others hold may become free later; a node or an image has to come in time.
      if (pending.shortage() == null
          && executor.pendingSince().plus(settings.pendingTimeout()).isBefore(now)) {
        return giveUp(pending, settings);
      }
      // The process that started it may have been killed before everything was created.
      return begun ? new Step.Wait() : new Step.Create();
    }
    // Only before its first report: later, the status of a node that fell silent may be outdated.
    if (starting && seen instanceof Observation.Running running && running.problem() != null) {
      return new Step.Recover(null, running.problem());
    }
    if (starting) {
      String message = "It did not report within " + settings.startTimeout().toSeconds() + " s.";
      return mustReport.isAfter(now) ? new Step.Wait() : new Step.Recover(null, message);
    }
    boolean silent = executor.leaseExpiresAt.isBefore(now);
    if (executor.state == ExecutorState.STOPPING) {
      return silent ? new Step.Recover(null, "It was asked to stop.") : new Step.Wait();
    }
    if (silent && executor.leaseExpiresAt.plus(settings.lostAfter()).isBefore(now)) {
      String message = "It has not reported for " + settings.lostAfter().toSeconds() + " s.";
      return new Step.Recover(null, message, true);
    }
    return new Step.Wait();
  }

  private static Step giveUp(Observation.Pending pending, RoostConfig.Executors settings) {
    String what =
        pending.message() == null
            ? "It did not start within " + settings.pendingTimeout().toSeconds() + " s."
            : pending.message();
    String reason =
        pending.reason() == null ? ExecutionReason.RUNTIME_UNAVAILABLE.code() : pending.reason();
    return new Step.Recover(reason, what);
  }

  private Duration pass() {
    // All replicas write leases, so they are read by the clock that all share.
    Instant now = databaseClock.now();
    List<Executor> live = QuarkusTransaction.requiringNew().call(Executor::live);
    Set<String> known = new HashSet<>();
    for (Executor executor : live) {
      known.add(executor.id);
      attempt(executor, () -> act(executor, now));
    }
    starter.keep(known);
    capacity.keep("executor_", known);
    since.keySet().retainAll(known);
    live.stream()
        .filter(executor -> executor.readyAt != null && !executor.isInPool())
        .forEach(
            executor -> starter.cameUp(new RevisionKey(executor.agentId, executor.agentRevision)));
    // Executors for which an earlier pass did not finish.
    for (Executor executor : QuarkusTransaction.requiringNew().call(Executor::endedWithExecution)) {
      known.add(executor.id);
      attempt(executor, () -> recover(executor, again(executor)));
    }
    unheard.retainAll(known);
    for (String leftover : runtime.executors()) {
      if (!known.contains(leftover) && !isLive(leftover)) {
        remove(leftover);
      }
    }
    showWork(live);
    pools.showAgents(live);
    Optional<Duration> next = serve(now);
    Duration usual = live.isEmpty() && next.isEmpty() ? AT_REST : WITH_EXECUTORS;
    return next.filter(due -> due.compareTo(usual) < 0).orElse(usual);
  }

  /** Finds an executor that another replica started, as the leader, after this pass had begun. */
  private static boolean isLive(String executorId) {
    return QuarkusTransaction.requiringNew().call(() -> Executor.isLive(executorId));
  }

  /** Jobs stay queued while no executor can be started. */
  private Optional<Duration> serve(Instant now) {
    try {
      return starter.serve(now);
    } catch (RuntimeUnavailable e) {
      throttledLog.warn("executors cannot be started", e);
      return Optional.of(UNAVAILABLE_PAUSE);
    }
  }

  /** Periodically reports to the runtime what each executor runs. */
  private void showWork(List<Executor> live) {
    long now = System.nanoTime();
    if (live.isEmpty() || now - shownAt < SHOW_EVERY.toNanos()) {
      return;
    }
    shownAt = now;
    Map<String, String> jobs = QuarkusTransaction.requiringNew().call(Execution::jobsByExecutor);
    jobs.forEach(
        (executorId, jobId) -> {
          if (!jobId.equals(shown.get(executorId))) {
            runtime.show(executorId, jobId);
          }
        });
    shown = jobs;
  }

  /** A failure of one executor must not affect the others. */
  private void attempt(Executor executor, Runnable step) {
    try {
      step.run();
    } catch (RuntimeUnavailable e) {
      throttledLog.warn("executor " + executor.id, e);
    } catch (RuntimeException e) {
      if (TransientErrors.isTransient(e)) {
        throw e;
      }
      LOG.errorf(e, "executor %s cannot be reconciled", executor.id);
    }
  }

  private void act(Executor executor, Instant now) {
    Observation seen = observe(executor);
    if (executor.isInPool() && lacksCapacity(seen)) {
      // A pool takes only what nobody else needs, so it doesn't wait for capacity.
      end(executor, new Step.Recover(null, "There is no capacity for it."), seen);
      return;
    }
    explain(executor, seen);
    boolean begun = starter.hasBegun(executor.id);
    Since same =
        since.compute(
            executor.id,
            (id, before) ->
                before != null && before.kind() == seen.getClass()
                    ? before
                    : new Since(seen.getClass(), now));
    Step step = decide(executor, seen, begun, config.executors(), same.time(), now);
    if (step instanceof Step.Create) {
      starter.start(executor);
    } else if (step instanceof Step.Recover replay) {
      end(executor, replay, seen);
    }
  }

  private static boolean lacksCapacity(Observation seen) {
    return seen instanceof Observation.Pending pending && pending.shortage() != null;
  }

  private Observation observe(Executor executor) {
    try {
      return runtime.observeExecutor(executor.id);
    } catch (RuntimeUnavailable e) {
      since.remove(executor.id);
      explain(executor, e.getMessage(), executor.lacksCapacity);
      throw e;
    }
  }

  /** Stores what a starting executor waits for. */
  private void explain(Executor executor, Observation seen) {
    if (seen instanceof Observation.Absent || executor.state != ExecutorState.STARTING) {
      return; // its message is why it could not be started
    }
    Observation.Pending pending = seen instanceof Observation.Pending one ? one : null;
    Shortage shortage = pending == null ? null : pending.shortage();
    if (shortage != null) {
      capacity.lacks(executor.id, shortage, clock.instant());
    } else if (executor.lacksCapacity
        && pending != null
        && pending.message() == null
        && capacity.isOnTrial(executor.id, clock.instant())) {
      return; // not known yet whether there is capacity for it now
    } else {
      capacity.suffices(executor.id);
    }
    explain(executor, pending == null ? null : pending.message(), shortage != null);
  }

  private void explain(Executor executor, String message, boolean lacksCapacity) {
    if (executor.state == ExecutorState.STARTING
        && (!Objects.equals(executor.message, message)
            || executor.lacksCapacity != lacksCapacity)) {
      QuarkusTransaction.requiringNew()
          .run(() -> executor.explain(message, lacksCapacity, clock.instant()));
    }
  }

  /** Recovers the output of an executor that has ended, then removes the executor. */
  private void end(Executor executor, Step.Recover step, Observation seen) {
    String message = step.silent() ? step.message() + cause(executor.id) : step.message();
    if (step.silent()) {
      unheard.add(executor.id);
    }
    dispatcher.forget(executor.id);
    capacity.forget(executor.id);
    // From here on, no job can be claimed for it.
    QuarkusTransaction.requiringNew()
        .run(() -> Executor.end(executor.id, message, clock.instant()));
    if (executor.isInPool()) {
      if (executor.state == ExecutorState.STARTING) {
        pools.failedToStart(executor.pool());
      }
      pools.checkSoon();
    } else if (executor.readyAt == null) {
      boolean waited = seen instanceof Observation.Pending;
      starter.failedToStart(
          new RevisionKey(executor.agentId, executor.agentRevision), step, waited);
    }
    if (recover(executor, new Step.Recover(step.reason(), message, step.silent()))) {
      remove(executor.id);
    }
    if (!executor.lacksCapacity) {
      capacity.freed(clock.instant());
    }
  }

  /** Why an executor is silent, as far as the runtime knows. */
  private String cause(String executorId) {
    try {
      return runtime.causeOfEnd(executorId).map(cause -> " " + cause.message()).orElse("");
    } catch (RuntimeUnavailable e) {
      return "";
    }
  }

  /**
   * The recovery of an executor that was marked as ended before, with what the runtime reports now.
   */
  private Step.Recover again(Executor executor) {
    return runtime.observeExecutor(executor.id) instanceof Observation.Ended end
        ? new Step.Recover(end.reason(), executor.message, unheard.contains(executor.id))
        : new Step.Recover(null, executor.message, unheard.contains(executor.id));
  }

  /** Returns false when a later pass has to do it. */
  private boolean recover(Executor executor, Step.Recover step) {
    List<Execution> open =
        QuarkusTransaction.requiringNew().call(() -> Execution.runningOn(executor.id));
    if (!open.isEmpty()) {
      // Stop what may still run: nothing must happen after the execution is reported as lost.
      if (!runtime.stopExecutor(executor.id)) {
        return false;
      }
      open.forEach(execution -> replay(executor, execution, step));
    }
    return true;
  }

  private void replay(Executor executor, Execution execution, Step.Recover step) {
    ExecutorOutputs.Found found = new ExecutorOutputs.Found(List.<LogEntry>of(), null, null);
    boolean readable = false;
    try (Runtime.ExecutorOutput output = runtime.executorOutput(executor.id)) {
      readable = output.frames() != null;
      found = outputs.read(execution.id, output.frames(), output.log());
    } catch (IOException e) {
      LOG.warnf("executor %s: its output cannot be read: %s", executor.id, e.getMessage());
    }
    Outcome outcome = found.outcome();
    if (outcome != null && outcome.isUnexplained()) {
      outcome = outcome.because(step.reason(), step.message());
    }
    // The output of an executor that fell silent says only that it was terminated, and not why.
    if (outcome == null || (step.silent() && outcome.state() == ExecutionState.LOST)) {
      outcome = Outcome.ofEndedExecutor(step.reason(), step.message(), clock.instant());
    }
    LOG.infof(
        "execution %s: %s after its executor ended: %s",
        execution.id, outcome.state().code(), step.message());
    intake.replay(execution.id, found.entries(), found.entered(), outcome, !readable);
  }

  private void remove(String executorId) {
    try {
      runtime.deleteExecutor(executorId);
    } catch (RuntimeUnavailable e) {
      throttledLog.warn("executor " + executorId + " cannot be removed", e);
    }
  }
}
