package dev.roost.executor;

import dev.roost.agent.AgentChanged;
import dev.roost.cluster.Draining;
import dev.roost.cluster.FromOtherReplica;
import dev.roost.cluster.NotificationsLost;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ConcurrencyKeyFreed;
import dev.roost.execution.ExecutorJobQueued;
import dev.roost.execution.JobClaimer;
import dev.roost.execution.WaitingExecutors;
import dev.roost.execution.Work;
import dev.roost.executor.IdleExecutors.IdleExecutor;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Matches waiting ExecutorJobs with polling executors.
 *
 * <p>The poll of an executor without work waits here, in memory and without a thread. Queueing a
 * job takes a waiting executor off the queue and claims the next job for it; a poll tries to claim
 * a job before it waits. A counter for each agent's revision prevents a race between the two: every
 * queued job increments it, and a poll that sees a new value tries again.
 *
 * <p>The submitter of a single job may reserve a waiting executor before the job is created, see
 * {@link WaitingExecutors}.
 *
 * <p>A job that finds no waiting executor here is announced to the other replicas, where one may
 * wait; the leader repeats the notification as long as both wait.
 */
@ApplicationScoped
public class Dispatcher implements WaitingExecutors {
  private static final Logger LOG = Logger.getLogger(Dispatcher.class);

  private final JobClaimer claims;
  private final ExecutorSessions sessions;
  private final ExecutorPools pools;
  private final ScheduledExecutorService timer;
  private final Draining draining;
  private final Event<ExecutorsNeeded> needed;
  private final Event<JobWaiting> jobWaiting;
  private final Event<ExecutorStopped> stopped;

  /** Half of a lease, since each poll renews the lease. */
  private final Duration longestWait;

  private final Map<RevisionKey, IdleExecutors> queues = new ConcurrentHashMap<>();

  /** The revision of the job of each agent that was queued last. */
  private final Map<String, Integer> revisions = new ConcurrentHashMap<>();

  private final PooledPolls pooled = new PooledPolls();

  Dispatcher(
      JobClaimer claims,
      ExecutorSessions sessions,
      ExecutorPools pools,
      RoostConfig config,
      ScheduledExecutorService timer,
      Draining draining,
      Event<ExecutorsNeeded> needed,
      Event<JobWaiting> jobWaiting,
      Event<ExecutorStopped> stopped) {
    this.claims = claims;
    this.sessions = sessions;
    this.pools = pools;
    this.longestWait = config.executors().lease().dividedBy(2);
    this.timer = timer;
    this.draining = draining;
    this.needed = needed;
    this.jobWaiting = jobWaiting;
    this.stopped = stopped;
  }

  void queued(@Observes ExecutorJobQueued job) {
    RevisionKey target = new RevisionKey(job.agentId(), job.agentRevision());
    revisions.put(job.agentId(), job.agentRevision());
    IdleExecutors queue = queue(target);
    long before = queue.jobQueued();
    boolean given = false;
    try {
      given = give(queue, job.jobs());
    } catch (RuntimeException e) {
      // The job stays queued; the reconciler finds an executor for it.
      LOG.warnf(
          "a job of %s cannot be dispatched immediately: %s", target.agentId(), e.getMessage());
    }
    if (given && job.jobs() == 1) {
      queue.givenAtOnce(before);
    } else if (assign(target, queue, job.jobs()) == job.jobs()) {
      needed.fire(new ExecutorsNeeded()); // The pool has fewer executors now.
    } else {
      jobWaiting.fire(new JobWaiting(job.agentId(), job.agentRevision()));
      needed.fire(new ExecutorsNeeded());
    }
  }

  void queued(@Observes @FromOtherReplica JobWaiting job) {
    RevisionKey target = new RevisionKey(job.agentId(), job.agentRevision());
    IdleExecutors queue = queues.get(target);
    if (queue != null) {
      queue.jobQueued();
      give(queue, Integer.MAX_VALUE);
    }
    if (assign(target, queue(target), Integer.MAX_VALUE) > 0) {
      needed.fire(new ExecutorsNeeded());
    }
  }

  /**
   * Gives executors of pools to the target if any wait here. Those that wait elsewhere are assigned
   * by their replica or by the leader.
   *
   * @return how many
   */
  private int assign(RevisionKey target, IdleExecutors queue, int most) {
    if (pooled.isEmpty() || !queue.mayBeAssigned()) {
      return 0;
    }
    try {
      int count = pools.assign(target, most);
      if (count == 0) {
        queue.notAssigned();
      }
      return count;
    } catch (RuntimeException e) {
      // The leader tries again, as long as jobs wait.
      LOG.warnf("no executor can be assigned to %s: %s", target.agentId(), e.getMessage());
      return 0;
    }
  }

  /** A job of any revision that waited for this concurrency key may be claimed now. */
  void freed(@Observes ConcurrencyKeyFreed event) {
    queues.forEach(
        (target, queue) -> {
          if (target.agentId().equals(event.agentId())) {
            queue.jobQueued();
            give(queue, Integer.MAX_VALUE);
          }
        });
    needed.fire(new ExecutorsNeeded());
  }

  /** Assigns up to {@code most} waiting jobs to the target's executors that wait here. */
  void offer(RevisionKey target, int most) {
    IdleExecutors queue = queue(target);
    queue.mayHoldMore();
    give(queue, most);
  }

  @Override
  public Optional<Reserved> reserve(String agentId) {
    Integer revision = revisions.get(agentId);
    IdleExecutors queue = revision == null ? null : queues.get(new RevisionKey(agentId, revision));
    if (queue == null || !queue.isKnownEmpty()) {
      return Optional.empty();
    }
    long seen = queue.jobsQueued();
    IdleExecutor idle = queue.take();
    while (idle != null && idle.isOld()) {
      idle.endWithoutWork();
      idle = queue.take();
    }
    return Optional.ofNullable(idle).map(taken -> new ReservedExecutor(queue, seen, taken));
  }

  private final class ReservedExecutor implements Reserved {
    private final IdleExecutors queue;
    private final long seen;
    private final IdleExecutor idle;

    /**
     * @param seen how many jobs were queued before it was taken off the queue
     */
    ReservedExecutor(IdleExecutors queue, long seen, IdleExecutor idle) {
      this.queue = queue;
      this.seen = seen;
      this.idle = idle;
    }

    @Override
    public JobClaimer.Claimant claimant() {
      return idle.session().claimant();
    }

    @Override
    public boolean cold() {
      return !idle.session().hasServed();
    }

    @Override
    public void give(Work work) {
      idle.session().getsWork(work.executionId());
      idle.answer().complete(new PollAnswer.Some(work));
    }

    @Override
    public void release() {
      putBack(queue, idle);
      if (queue.jobsQueued() != seen) {
        Dispatcher.this.give(queue, Integer.MAX_VALUE);
      }
    }

    @Override
    public void pollAgain() {
      sessions.forget(idle.session().executorId());
      idle.endWithoutWork();
    }
  }

  /** Queues an executor again that has got no work; its time may have passed meanwhile. */
  private void putBack(IdleExecutors queue, IdleExecutor idle) {
    queue.add(idle);
    if (idle.expired().get()) {
      endWait(queue, idle);
    }
  }

  /** Returns whether any job was assigned. */
  private boolean give(IdleExecutors queue, int most) {
    boolean given = false;
    for (int count = 0; count < most; ) {
      IdleExecutor idle = queue.take();
      if (idle == null) {
        return given;
      }
      if (idle.isOld()) {
        idle.endWithoutWork();
        continue;
      }
      long seen = queue.jobsQueued();
      JobClaimer.Claim claim;
      try {
        claim = claim(idle.session());
      } catch (RuntimeException e) {
        idle.endWithoutWork();
        throw e;
      }
      if (claim.work() != null) {
        idle.answer().complete(new PollAnswer.Some(claim.work()));
        given = true;
        count++;
      } else if (!claim.mayWork()) {
        idle.answer()
            .complete(idle.session().isIdle() ? stop(idle.session()) : new PollAnswer.None());
      } else {
        if (!claim.isFull()) {
          queue.foundEmpty(seen);
        }
        putBack(queue, idle);
        if (queue.jobsQueued() == seen) {
          return given;
        }
      }
    }
    return given;
  }

  /**
   * Handles an executor's poll. Blocks for the database; the answer may come later.
   *
   * @param poll what the executor says of itself
   */
  CompletableFuture<PollAnswer> poll(String executorId, Poll poll, Duration wait) {
    Optional<ExecutorSession> known = sessions.open(executorId, poll.number());
    if (known.isEmpty()) {
      return CompletableFuture.completedFuture(new PollAnswer.Stop());
    }
    ExecutorSession session = known.get();
    session.polled(poll);
    if (session.isInPool()) {
      return waitForAgent(executorId, poll, wait);
    }
    for (String working : session.missing(poll.running())) {
      Optional<Work> lost = claims.handedOut(session.claimant(), working);
      if (lost.isPresent()) {
        session.gotWork();
        return CompletableFuture.completedFuture(new PollAnswer.Some(lost.get()));
      }
      session.hasWorked(working);
    }
    if (session.isSpent()) {
      return CompletableFuture.completedFuture(stop(session));
    }
    IdleExecutors queue = queue(session.target());
    queue.dropEarlierPoll(session);
    CompletableFuture<PollAnswer> answer = new CompletableFuture<>();
    IdleExecutor idle = new IdleExecutor(session, answer);
    while (true) {
      long seen = queue.jobsQueued();
      if (!queue.isKnownEmpty()) {
        JobClaimer.Claim claim = claim(session);
        if (claim.work() != null) {
          return CompletableFuture.completedFuture(new PollAnswer.Some(claim.work()));
        }
        if (!claim.mayWork()) {
          return stopWhenIdle(session, answer, wait);
        }
        if (!claim.isFull()) {
          queue.foundEmpty(seen);
        }
      }
      if (session.isStale() && session.isIdle()) {
        return CompletableFuture.completedFuture(stop(session));
      }
      session.waiting = answer;
      queue.add(idle);
      if (queue.jobsQueued() == seen || !queue.remove(idle)) {
        break;
      }
    }
    Duration timeout = min(draining.shorten(min(wait, longestWait)), session.warmthLeft());
    timer.schedule(
        () -> endWait(queue, idle), Math.max(0, timeout.toMillis()), TimeUnit.MILLISECONDS);
    return answer;
  }

  /** Without work the executor stops; otherwise its poll waits, and it gets no more. */
  private CompletableFuture<PollAnswer> stopWhenIdle(
      ExecutorSession session, CompletableFuture<PollAnswer> answer, Duration wait) {
    session.waiting = answer;
    if (session.isIdle()) {
      return CompletableFuture.completedFuture(stop(session));
    }
    session.leaves();
    timer.schedule(
        () -> answer.complete(new PollAnswer.None()),
        draining.shorten(min(wait, longestWait)).toMillis(),
        TimeUnit.MILLISECONDS);
    return answer;
  }

  /** The poll of an executor in a pool goes on when the executor has got an agent. */
  private CompletableFuture<PollAnswer> waitForAgent(String executorId, Poll poll, Duration wait) {
    CompletableFuture<Boolean> changed = pooled.begin(executorId);
    // It may have changed between the reading of its state and the wait.
    if (!QuarkusTransaction.requiringNew().call(() -> Executor.isInPool(executorId))) {
      changed.complete(true);
    }
    timer.schedule(
        () -> changed.complete(false),
        draining.shorten(min(wait, longestWait)).toMillis(),
        TimeUnit.MILLISECONDS);
    return changed.thenCompose(
        again -> {
          if (!again) {
            return CompletableFuture.completedFuture(new PollAnswer.None());
          }
          sessions.forget(executorId);
          return poll(executorId, poll, wait);
        });
  }

  void assigned(@Observes ExecutorAssigned event) {
    pooled.changed(event.executorId());
  }

  /**
   * Frames have arrived: the executor is alive, and becomes idle if the last frame is among them.
   */
  void heard(String executorId, String executionId, boolean last) {
    Optional<ExecutorSession> ended = sessions.heard(executorId).filter(session -> last);
    ended.ifPresent(session -> session.hasWorked(executionId));
    ended.filter(ExecutorSession::isShared).ifPresent(this::hasPlace);
  }

  /** An execution has ended beside others: another one may begin, in the same process or not. */
  private void hasPlace(ExecutorSession session) {
    String agentId = session.target().agentId();
    queues.forEach(
        (target, queue) -> {
          if (target.agentId().equals(agentId) && !queue.isKnownEmpty()) {
            give(queue, 1);
          }
        });
    CompletableFuture<PollAnswer> waiting = session.waiting;
    if (waiting != null && session.isIdle()) {
      // Its poll began while it had work, and doesn't know how long it may still wait.
      timer.schedule(
          () -> pollAgain(session, waiting),
          session.isLeaving() ? 0 : Math.max(0, session.warmthLeft().toMillis()),
          TimeUnit.MILLISECONDS);
    }
  }

  private void pollAgain(ExecutorSession session, CompletableFuture<PollAnswer> waiting) {
    if (session.waiting != waiting || !session.isIdle()) {
      return;
    }
    List<IdleExecutor> taken = queue(session.target()).remove(session.executorId());
    if (!taken.isEmpty() || session.isLeaving()) {
      waiting.complete(new PollAnswer.None());
    }
  }

  void changed(@Observes AgentChanged change) {
    sessions.agentChanged(change);
    queues.forEach(
        (target, queue) -> {
          if (target.agentId().equals(change.agentId())) {
            queue.mayHoldMore(); // More executors may get work after max_concurrency was raised.
            if (target.agentRevision() != change.revision()) {
              stopIdle(queue);
            }
          }
        });
    needed.fire(new ExecutorsNeeded());
  }

  /** Forgets an executor that has ended. */
  void forget(String executorId) {
    stopped.fire(new ExecutorStopped(executorId));
  }

  void stopped(@Observes ExecutorStopped event) {
    pooled.changed(event.executorId());
    leave(event.executorId(), new PollAnswer.Stop());
  }

  void moved(@Observes @FromOtherReplica ExecutorMoved event) {
    pooled.end(event.executorId());
    leave(event.executorId(), new PollAnswer.None());
  }

  private void leave(String executorId, PollAnswer answer) {
    sessions
        .forget(executorId)
        .filter(session -> !session.isInPool())
        .map(session -> queues.get(session.target()))
        .ifPresent(
            queue -> queue.remove(executorId).forEach(idle -> idle.answer().complete(answer)));
  }

  /**
   * The state in memory may be stale: waiting executors have to poll again, and their state is read
   * from the database.
   */
  void lookAgain(@Observes NotificationsLost event) {
    sessions.forgetAll();
    endAllWaits();
  }

  void drain(@Observes Draining.Begun event) {
    endAllWaits();
  }

  private void endAllWaits() {
    pooled.endAll();
    for (IdleExecutors queue : queues.values()) {
      queue.mayHoldMore();
      queue.removeAll().forEach(IdleExecutor::endWithoutWork);
    }
  }

  private JobClaimer.Claim claim(ExecutorSession session) {
    JobClaimer.Claim claim;
    try {
      claim = claims.next(session.claimant(), !session.hasServed());
    } catch (RuntimeException e) {
      // The claim may have been committed anyway: the next poll finds out.
      sessions.forget(session.executorId());
      throw e;
    }
    if (claim.work() != null) {
      session.getsWork(claim.work().executionId());
    }
    return claim;
  }

  private void endWait(IdleExecutors queue, IdleExecutor idle) {
    idle.expired().set(true);
    if (!queue.remove(idle)) {
      return;
    }
    PollAnswer answer = new PollAnswer.None();
    try {
      if (idle.session().warmthLeft().toMillis() <= 0) {
        answer = stop(idle.session());
      }
    } finally {
      idle.answer().complete(answer);
    }
  }

  private PollAnswer stop(ExecutorSession session) {
    boolean stopped =
        QuarkusTransaction.requiringNew().call(() -> Executor.stop(session.executorId()));
    sessions.forget(session.executorId());
    needed.fire(new ExecutorsNeeded());
    // Otherwise the executor is stopping already, or is running an execution and polls elsewhere:
    // nobody reads this answer.
    return stopped ? new PollAnswer.Stop() : new PollAnswer.None();
  }

  private void stopIdle(IdleExecutors queue) {
    List<IdleExecutor> busy = new ArrayList<>();
    for (IdleExecutor idle = queue.take(); idle != null; idle = queue.take()) {
      // A job of that revision may still be queued: the executor gets the job instead of
      // stopping.
      ExecutorSession session = idle.session();
      Work work = claim(session).work();
      if (work == null && !session.isIdle()) {
        busy.add(idle);
      } else {
        idle.answer().complete(work == null ? stop(session) : new PollAnswer.Some(work));
      }
    }
    busy.forEach(idle -> putBack(queue, idle));
  }

  private IdleExecutors queue(RevisionKey target) {
    return queues.computeIfAbsent(target, key -> new IdleExecutors());
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
