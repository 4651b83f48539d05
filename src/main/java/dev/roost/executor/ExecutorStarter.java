package dev.roost.executor;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentRevision;
import dev.roost.builds.Bases;
import dev.roost.builds.Build;
import dev.roost.builds.BuildInputs;
import dev.roost.builds.BuilderJob;
import dev.roost.builds.BuilderJobsChanged;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecutionReason;
import dev.roost.execution.ExecutorJob;
import dev.roost.runtime.Capacity;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.ExecutorSpec;
import dev.roost.runtime.Runtime.NoCapacity;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.runtime.Step;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Starts executors where jobs wait, within each agent's concurrency and the runtime's room. */
@ApplicationScoped
class ExecutorStarter {
  /** After so many executors of a revision in a row that did not come up, its waiting jobs fail. */
  private static final int MAX_FAILED_STARTS = 3;

  private final Runtime runtime;
  private final RoostConfig config;
  private final Demand demand;
  private final Dispatcher dispatcher;
  private final ExecutorEviction room;
  private final Preemption preemption;
  private final Capacity capacity;
  private final Event<JobWaiting> jobWaiting;
  private final ExecutorTokens tokens;
  private final Signals signals;
  private final Event<BuilderJobsChanged> builderJobs;
  private final Bases bases;
  private final Clock clock;

  /** Only the reconciler's thread touches it. */
  private final Map<RevisionKey, FailedStarts> failedStarts = new HashMap<>();

  /** The executors whose start this process has brought to its end. */
  private final Set<String> begun = new HashSet<>();

  ExecutorStarter(
      Runtime runtime,
      RoostConfig config,
      Demand demand,
      Dispatcher dispatcher,
      ExecutorEviction room,
      Preemption preemption,
      Capacity capacity,
      Event<JobWaiting> jobWaiting,
      ExecutorTokens tokens,
      Signals signals,
      Event<BuilderJobsChanged> builderJobs,
      Bases bases,
      Clock clock) {
    this.runtime = runtime;
    this.config = config;
    this.demand = demand;
    this.dispatcher = dispatcher;
    this.room = room;
    this.preemption = preemption;
    this.capacity = capacity;
    this.jobWaiting = jobWaiting;
    this.tokens = tokens;
    this.signals = signals;
    this.builderJobs = builderJobs;
    this.bases = bases;
    this.clock = clock;
  }

  private record FailedStarts(
      int count, Instant notBefore, ExecutionReason reason, String message) {}

  /**
   * How many executors there are.
   *
   * @param ofAgent all of it, by the agent's identifier
   * @param staying the same without those that are leaving
   */
  private record Census(int all, Map<String, Integer> ofAgent, Map<String, Integer> staying) {
    int leaving() {
      return all - staying.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  /**
   * Looks at everything that waits and does what can be done for it.
   *
   * @param now by the database's clock, as leases are
   * @return when to look again at the latest, if anything waits
   */
  Optional<Duration> serve(Instant now) {
    List<Demand.Waiting> waiting = QuarkusTransaction.requiringNew().call(() -> demand.read(now));
    room.stopSurplus();
    List<Preemption.Lacking> lacking = preemption.serve(waiting, this::start);
    if (!waiting.isEmpty()) {
      share(waiting, lacking, now);
    }
    Instant due = QuarkusTransaction.requiringNew().call(demand::nextDue);
    if (due == null) {
      return waiting.isEmpty() ? Optional.empty() : Optional.of(Duration.ofMillis(500));
    }
    return Optional.of(Duration.between(now, due).plusMillis(5));
  }

  /**
   * @param waited whether it was given as long as anything may wait: another start would end alike
   */
  void failedToStart(RevisionKey target, Step.Recover step, boolean waited) {
    FailedStarts before = failedStarts.get(target);
    int count = before == null ? 1 : before.count() + 1;
    failedStarts.put(
        target,
        new FailedStarts(
            waited ? MAX_FAILED_STARTS : count,
            clock.instant().plusSeconds(1L << count),
            ExecutionReason.of(step.reason()).orElse(ExecutionReason.RUNTIME_UNAVAILABLE),
            step.message()));
  }

  /**
   * Executors of this target do come up: jobs that wait are served, be it slowly, and others that
   * did not come up are a reason to pause only.
   */
  void cameUp(RevisionKey target) {
    failedStarts.computeIfPresent(
        target,
        (same, failed) ->
            new FailedStarts(0, failed.notBefore(), failed.reason(), failed.message()));
  }

  /**
   * Whether this process has started an executor. One that another process started may lack a part,
   * if that one was killed meanwhile; starting it again adds what is missing.
   */
  boolean hasBegun(String executorId) {
    return begun.contains(executorId);
  }

  /** Forgets the executors that aren't among those. */
  void keep(Set<String> executorIds) {
    begun.retainAll(executorIds);
  }

  /** Starts an executor whose row is there already. */
  void start(Executor executor) {
    record Needs(Agent agent, AgentRevision revision, BuilderJob job, String image) {}
    Needs needs =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  AgentRevision revision =
                      AgentRevision.of(executor.agentId, executor.agentRevision);
                  Agent agent = Agent.findById(executor.agentId);
                  BuilderJob job = BuilderJob.findById(revision.builderJobId);
                  Build build = Build.findById(executor.buildId);
                  return new Needs(agent, revision, job, build.image);
                });
    start(
        new ExecutorSpec(
            executor.id,
            needs.job().imageKey,
            needs.image(),
            needs.revision().pythonVersion,
            tokens.make(executor.id),
            needs.agent().memoryMib,
            needs.agent().cpu,
            needs.revision().profile,
            Egress.parse(needs.revision().egress),
            labels(needs.agent().name, executor, null)));
  }

  /** Starts executors for what waits, fairly among agents. */
  private void share(List<Demand.Waiting> waiting, List<Preemption.Lacking> lacking, Instant now) {
    Census census = census();
    List<Demand.Waiting> groups = new ArrayList<>();
    List<FairShare.Want> wants = new ArrayList<>();
    for (Demand.Waiting group : waiting) {
      String agentId = group.target().agentId();
      int open = open(group);
      if (Preemption.isFutile(group, lacking)) {
        continue;
      }
      int left = group.maxConcurrency() - census.ofAgent().getOrDefault(agentId, 0);
      if (open > 0 && left <= 0) {
        // Idle ones of another revision make room.
        room.make(agentId, group.target(), Math.min(open, group.maxConcurrency()));
      } else if (open > 0) {
        groups.add(group);
        wants.add(new FairShare.Want(agentId, Math.min(open, left)));
      }
    }
    int free = runtime.describe().maxExecutors() - census.all();
    // The room of those that are leaving is promised already, so that no more are sent away for it.
    FairShare.Plan plan = FairShare.plan(free + census.leaving(), census.staying(), wants);
    for (int index : plan.starts().subList(0, Math.max(0, Math.min(free, plan.starts().size())))) {
      if (!startOne(groups.get(index), now)) {
        return; // the next pass sees what else there is capacity for
      }
    }
    int missing = wants.stream().mapToInt(FairShare.Want::count).sum() - plan.starts().size();
    if (missing > 0) {
      makeRoom(groups, missing, census, plan.takes());
    }
  }

  /** Idle executors leave; where there are none, others leave after their work. */
  private void makeRoom(
      List<Demand.Waiting> groups, int missing, Census census, Map<String, Integer> takes) {
    int leaving = census.leaving();
    for (Demand.Waiting group : groups) {
      leaving = Math.max(leaving, room.make(null, group.target(), census.leaving() + missing));
    }
    int left = missing - (leaving - census.leaving());
    for (Map.Entry<String, Integer> take : takes.entrySet()) {
      int most = Math.min(left, take.getValue());
      room.yield(take.getKey(), most);
      left -= most;
    }
  }

  /** Does what else is to do for what waits; answers how many more executors it could use. */
  private int open(Demand.Waiting group) {
    if (group.buildFailed()) {
      fail(
          group.target(),
          ExecutionReason.BUILD_FAILED,
          "The build failed: " + group.buildMessage());
      return 0;
    }
    if (!group.isBuilt()) {
      return 0;
    }
    dispatcher.offer(group.target(), group.waiting());
    if (group.free() > 0) {
      // They were told when the jobs were queued, and that may not have arrived.
      jobWaiting.fire(new JobWaiting(group.target().agentId(), group.target().agentRevision()));
    }
    int open = group.waiting() - group.starting() - group.free();
    FailedStarts failed = failedStarts.get(group.target());
    if (failed != null && failed.count() >= MAX_FAILED_STARTS) {
      failedStarts.remove(group.target());
      fail(group.target(), failed.reason(), "No executor came up. " + failed.message());
      return 0;
    }
    if (open <= 0 || (failed != null && failed.notBefore().isAfter(clock.instant()))) {
      return 0;
    }
    Optional<String> refusal = runtime.refusal(group.profile(), Egress.parse(group.egress()));
    if (refusal.isPresent()) {
      String message = refusal.get() + " Change the agent's profile or egress.";
      fail(group.target(), ExecutionReason.RUNTIME_UNAVAILABLE, message);
      return 0;
    }
    if (group.removed() || !runtime.hasBuild(group.imageKey())) {
      rebuild(group);
      return 0;
    }
    return open;
  }

  /** Answers false when the runtime has no capacity. */
  private boolean startOne(Demand.Waiting group, Instant now) {
    RevisionKey target = group.target();
    Optional<Executor> made =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    Executor.make(
                        target.agentId(),
                        target.agentRevision(),
                        group.buildId(),
                        now,
                        config.executors().lease()));
    return made.isEmpty() || start(group, made.get());
  }

  private boolean start(Demand.Waiting group, Executor executor) {
    return start(
        new ExecutorSpec(
            executor.id,
            group.imageKey(),
            group.image(),
            group.pythonVersion(),
            tokens.make(executor.id),
            group.memoryMib(),
            group.cpu(),
            group.profile(),
            Egress.parse(group.egress()),
            labels(group.agentName(), executor, group.oldestJobId())));
  }

  private boolean start(ExecutorSpec spec) {
    String id = spec.executorId();
    capacity.tried(id, clock.instant());
    try {
      runtime.startExecutor(spec);
      begun.add(id);
      return true;
    } catch (NoCapacity e) {
      begun.add(id); // there is nothing to complete
      capacity.lacks(id, e.shortage(), clock.instant());
      explain(id, e.getMessage(), true);
      return false;
    } catch (RuntimeUnavailable e) {
      explain(id, "It could not be started: " + e.getMessage(), false);
      throw e;
    }
  }

  private void explain(String executorId, String message, boolean lacksCapacity) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                Executor.<Executor>findById(executorId)
                    .explain(message, lacksCapacity, clock.instant()));
  }

  private static Map<String, String> labels(
      String agentName, Executor executor, String startedFor) {
    Map<String, String> labels = new HashMap<>();
    labels.put("agent-id", executor.agentId);
    labels.put("agent-name", agentName);
    labels.put("agent-revision", Integer.toString(executor.agentRevision));
    if (startedFor != null) {
      labels.put("started-for", startedFor);
    }
    return labels;
  }

  private void fail(RevisionKey target, ExecutionReason reason, String message) {
    Instant now = clock.instant();
    List<String> failed =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    demand.jobs(target).stream()
                        .filter(id -> ExecutorJob.failQueued(id, reason, message, now))
                        .toList());
    failed.forEach(signals::fire);
  }

  /**
   * The Build is in the database and gone from the runtime: Retention or somebody else removed it.
   * It is made again.
   */
  private void rebuild(Demand.Waiting group) {
    Instant now = clock.instant();
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              BuilderJob before = BuilderJob.findById(group.builderJobId());
              BuilderJob.Request request =
                  new BuilderJob.Request(
                      before.agentId, group.target().agentRevision(), inputs(before));
              String again = BuilderJob.create(request, false, now).id;
              BuilderJob.flush();
              AgentRevision.useBuild(before.agentId, before.id, again);
            });
    builderJobs.fire(new BuilderJobsChanged());
  }

  /** On its own base again; of a Python version that isn't offered any more, the build will say. */
  private BuildInputs inputs(BuilderJob before) {
    return runtime.describe().pythonVersions().contains(before.pythonVersion)
        ? bases.inputs(before)
        : BuildInputs.of(before);
  }

  private static Census census() {
    List<Executor> live = QuarkusTransaction.requiringNew().call(Executor::live);
    Map<String, Integer> ofAgent = new HashMap<>();
    Map<String, Integer> staying = new HashMap<>();
    for (Executor executor : live) {
      ofAgent.merge(executor.agentId, 1, Integer::sum);
      if (!executor.yields && !executor.state.equals("stopping")) {
        staying.merge(executor.agentId, 1, Integer::sum);
      }
    }
    return new Census(live.size(), ofAgent, staying);
  }
}
