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
import dev.roost.state.ExecutorState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Starts executors for waiting jobs, within each agent's max_concurrency and the runtime's
 * capacity.
 */
@ApplicationScoped
class ExecutorStarter {
  /** After this many failed starts of a revision's executors in a row, its waiting jobs fail. */
  private static final int MAX_FAILED_STARTS = 3;

  private final Runtime runtime;
  private final RoostConfig config;
  private final Demand demand;
  private final Dispatcher dispatcher;
  private final ExecutorEviction eviction;
  private final Preemption preemption;
  private final ExecutorPools pools;
  private final PoolRepository poolRepository;
  private final Capacity capacity;
  private final Event<JobWaiting> jobWaiting;
  private final ExecutorTokens tokens;
  private final Signals signals;
  private final Event<BuilderJobsChanged> builderJobs;
  private final Bases bases;
  private final Clock clock;

  /** Accessed only by the reconciler's thread. */
  private final Map<RevisionKey, FailedStarts> failedStarts = new HashMap<>();

  /** The executors that this process has started completely. */
  private final Set<String> begun = new HashSet<>();

  ExecutorStarter(
      Runtime runtime,
      RoostConfig config,
      Demand demand,
      Dispatcher dispatcher,
      ExecutorEviction eviction,
      Preemption preemption,
      ExecutorPools pools,
      PoolRepository poolRepository,
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
    this.eviction = eviction;
    this.preemption = preemption;
    this.pools = pools;
    this.poolRepository = poolRepository;
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
   * The number of executors.
   *
   * @param ofAgent the executors of agents, by agent identifier
   * @param staying the same, without those that are leaving
   * @param inPools the executors of pools, without those that are leaving
   */
  private record Census(
      int all, Map<String, Integer> ofAgent, Map<String, Integer> staying, int inPools) {
    int leaving() {
      return all - inPools - staying.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  /**
   * Serves all waiting jobs as far as possible now.
   *
   * @param now by the database's clock, like leases
   * @return how long until the next pass at the latest; empty when nothing waits
   */
  Optional<Duration> serve(Instant now) {
    List<Demand.Waiting> waiting = QuarkusTransaction.requiringNew().call(() -> demand.read(now));
    eviction.stopSurplus();
    List<Preemption.Lacking> lacking = preemption.serve(waiting, this::start);
    boolean served = waiting.isEmpty() || share(waiting, lacking, now);
    if (served && lacking.isEmpty() && capacity.refused().isEmpty()) {
      int free = runtime.describe().maxExecutors() - census().all();
      pools.fill(free, now, this::startPooled);
    }
    Instant due = QuarkusTransaction.requiringNew().call(demand::nextDue);
    if (due == null) {
      return waiting.isEmpty() ? Optional.empty() : Optional.of(Duration.ofMillis(500));
    }
    return Optional.of(Duration.between(now, due).plusMillis(5));
  }

  /**
   * @param waited whether it was pending for the whole timeout: another start would end the same
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
   * Executors of this target start successfully: waiting jobs are served, even if slowly, and other
   * failed starts only cause a pause.
   */
  void cameUp(RevisionKey target) {
    failedStarts.computeIfPresent(
        target,
        (same, failed) ->
            new FailedStarts(0, failed.notBefore(), failed.reason(), failed.message()));
  }

  /**
   * Whether this process has started the executor completely. If another process was killed while
   * it started the executor, a part may be missing; another start adds it.
   */
  boolean hasBegun(String executorId) {
    return begun.contains(executorId);
  }

  /** Forgets all other executors. */
  void keep(Set<String> executorIds) {
    begun.retainAll(executorIds);
  }

  /** Starts an executor that has a row already. */
  void start(Executor executor) {
    if (executor.isInPool()) {
      startPooled(executor);
      return;
    }
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

  /** Returns false when the runtime has no capacity. */
  private boolean startPooled(Executor executor) {
    PoolRepository.Pool pool = poolRepository.pool(executor.pool());
    ExecutorSpec spec =
        new ExecutorSpec(
            executor.id,
            pool.imageKey(),
            pool.image(),
            pool.pythonVersion(),
            tokens.make(executor.id),
            executor.memoryMib,
            executor.cpu,
            executor.profile,
            Egress.parse(executor.egress),
            Map.of("pool", executor.buildId));
    try {
      runtime.startExecutor(spec);
      begun.add(executor.id);
      return true;
    } catch (NoCapacity e) {
      // A pool takes only what nobody else needs, so it doesn't wait for capacity.
      pools.failedToStart(executor.pool());
      QuarkusTransaction.requiringNew()
          .run(() -> Executor.end(executor.id, e.getMessage(), clock.instant()));
      return false;
    }
  }

  /**
   * Starts executors for waiting jobs, fairly among agents.
   *
   * @return whether each job has an executor, or one that starts, as far as its agent may have one
   */
  private boolean share(
      List<Demand.Waiting> waiting, List<Preemption.Lacking> lacking, Instant now) {
    Map<Demand.Waiting, Integer> unserved = new LinkedHashMap<>();
    for (Demand.Waiting group : waiting) {
      int open = open(group);
      unserved.put(group, open > 0 ? open - pools.assign(group.target(), open) : 0);
    }
    Census census = census();
    List<Demand.Waiting> groups = new ArrayList<>();
    List<FairShare.Need> needs = new ArrayList<>();
    for (Demand.Waiting group : waiting) {
      String agentId = group.target().agentId();
      int open = unserved.get(group);
      if (Preemption.isFutile(group, lacking)) {
        continue;
      }
      int left = group.maxConcurrency() - census.ofAgent().getOrDefault(agentId, 0);
      if (open > 0 && left <= 0) {
        // Idle executors of another revision leave.
        eviction.freeCapacity(agentId, group.target(), Math.min(open, group.maxConcurrency()));
      } else if (open > 0) {
        groups.add(group);
        needs.add(new FairShare.Need(agentId, Math.min(open, left)));
      }
    }
    if (needs.isEmpty()) {
      return true;
    }
    int free = runtime.describe().maxExecutors() - census.all();
    // Leaving executors' capacity is already assigned, so that no further executors have to
    // leave.
    int obtainable = free + census.leaving() + census.inPools();
    FairShare.Plan plan = FairShare.plan(obtainable, census.staying(), needs);
    pools.giveWay(Math.min(plan.starts().size() - free - census.leaving(), census.inPools()));
    for (int index : plan.starts().subList(0, Math.max(0, Math.min(free, plan.starts().size())))) {
      if (!startOne(groups.get(index), now)) {
        return false; // the next pass tries the others
      }
    }
    int missing = needs.stream().mapToInt(FairShare.Need::count).sum() - plan.starts().size();
    if (missing > 0) {
      freeCapacity(groups, missing, census, plan.takes());
    }
    return false;
  }

  /** Makes idle executors leave; if there are too few, others leave after their work. */
  private void freeCapacity(
      List<Demand.Waiting> groups, int missing, Census census, Map<String, Integer> takes) {
    int leaving = census.leaving();
    for (Demand.Waiting group : groups) {
      leaving =
          Math.max(
              leaving, eviction.freeCapacity(null, group.target(), census.leaving() + missing));
    }
    int left = missing - (leaving - census.leaving());
    for (Map.Entry<String, Integer> take : takes.entrySet()) {
      int most = Math.min(left, take.getValue());
      eviction.yield(take.getKey(), most);
      left -= most;
    }
  }

  /** Handles a group's waiting jobs; returns how many more executors they need. */
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
      // The notification that was sent when the jobs were queued may have been lost.
      jobWaiting.fire(new JobWaiting(group.target().agentId(), group.target().agentRevision()));
    }
    int open = group.missing(group.starting());
    FailedStarts failed = failedStarts.get(group.target());
    if (failed != null && failed.count() >= MAX_FAILED_STARTS) {
      failedStarts.remove(group.target());
      fail(group.target(), failed.reason(), "No executor started. " + failed.message());
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

  /** Returns false when the runtime has no capacity. */
  private boolean startOne(Demand.Waiting group, Instant now) {
    RevisionKey target = group.target();
    Optional<Executor> created =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    Executor.make(
                        target.agentId(),
                        target.agentRevision(),
                        group.buildId(),
                        now,
                        config.executors().lease()));
    pools.checkSoon();
    return created.isEmpty() || start(group, created.get());
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

  /**
   * @param startedFor the job for which it was started; null: unknown
   */
  static Map<String, String> labels(String agentName, Executor executor, String startedFor) {
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
   * Builds again: the Build is in the database but gone from the runtime, since Retention or
   * somebody else removed it.
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

  /**
   * The inputs for building again. For a Python version that is no longer offered, they are
   * unchanged, and the build reports the error.
   */
  private BuildInputs inputs(BuilderJob before) {
    return runtime.describe().pythonVersions().contains(before.pythonVersion)
        ? bases.inputs(before)
        : BuildInputs.of(before);
  }

  private static Census census() {
    List<Executor> live = QuarkusTransaction.requiringNew().call(Executor::live);
    Map<String, Integer> ofAgent = new HashMap<>();
    Map<String, Integer> staying = new HashMap<>();
    int inPools = 0;
    for (Executor executor : live) {
      boolean stays = !executor.yields && executor.state != ExecutorState.STOPPING;
      if (executor.isInPool()) {
        inPools += stays ? 1 : 0;
        continue;
      }
      ofAgent.merge(executor.agentId, 1, Integer::sum);
      if (stays) {
        staying.merge(executor.agentId, 1, Integer::sum);
      }
    }
    return new Census(live.size(), ofAgent, staying, inPools);
  }
}
