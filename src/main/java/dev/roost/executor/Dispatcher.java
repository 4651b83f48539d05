package dev.roost.executor;

import dev.roost.agent.AgentChanged;
import dev.roost.cluster.Draining;
import dev.roost.cluster.FromOtherReplica;
import dev.roost.cluster.NotificationsLost;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecutorJobQueued;
import dev.roost.executor.IdleExecutors.IdleExecutor;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Brings waiting ExecutorJobs and polling executors together.
 *
 * <p>An executor without work waits here, in memory and without a thread. Whoever queues a job
 * takes a waiting executor off the queue and claims the oldest job for it; whoever polls tries to
 * claim before it waits. A counter for each agent's revision closes the gap between the two: it
 * moves with every queued job, and a poll that sees it moved tries again.
 *
 * <p>A job that finds no executor waiting is told to the other replicas, where one may wait; the
 * leader tells them again as long as there are both.
 */
@ApplicationScoped
public class Dispatcher {
  private static final Logger LOG = Logger.getLogger(Dispatcher.class);

  private final JobClaimer claims;
  private final ExecutorSessions sessions;
  private final ScheduledExecutorService timer;
  private final Draining draining;
  private final Event<ExecutorsNeeded> needed;
  private final Event<JobWaiting> jobWaiting;
  private final Event<ExecutorStopped> stopped;

  /** A poll renews the lease, so none may wait as long as that. */
  private final Duration longestWait;

  private final Map<RevisionKey, IdleExecutors> queues = new ConcurrentHashMap<>();

  Dispatcher(
      JobClaimer claims,
      ExecutorSessions sessions,
      RoostConfig config,
      ScheduledExecutorService timer,
      Draining draining,
      Event<ExecutorsNeeded> needed,
      Event<JobWaiting> jobWaiting,
      Event<ExecutorStopped> stopped) {
    this.claims = claims;
    this.sessions = sessions;
    this.longestWait = config.executors().lease().dividedBy(2);
    this.timer = timer;
    this.draining = draining;
    this.needed = needed;
    this.jobWaiting = jobWaiting;
    this.stopped = stopped;
  }

  void queued(@Observes ExecutorJobQueued job) {
    RevisionKey target = new RevisionKey(job.agentId(), job.agentRevision());
    IdleExecutors queue = queue(target);
    long before = queue.jobQueued();
    boolean given = false;
    try {
      given = give(queue, job.jobs());
    } catch (RuntimeException e) {
      // The job stays queued; the reconciler finds an executor for it.
      LOG.warnf("a job of %s can't be handed over at once: %s", target.agentId(), e.getMessage());
    }
    if (given && job.jobs() == 1) {
      queue.givenAtOnce(before);
    } else {
      jobWaiting.fire(new JobWaiting(job.agentId(), job.agentRevision()));
      needed.fire(new ExecutorsNeeded());
    }
  }

  void queued(@Observes @FromOtherReplica JobWaiting job) {
    IdleExecutors queue = queues.get(new RevisionKey(job.agentId(), job.agentRevision()));
    if (queue != null) {
      queue.jobQueued();
      give(queue, Integer.MAX_VALUE);
    }
  }

  /** A job that waited for the end of another one may be claimed now, of whatever revision. */
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

  /** Gives up to so many waiting jobs to executors of that target that wait here. */
  void offer(RevisionKey target, int most) {
    IdleExecutors queue = queue(target);
    queue.mayHoldMore();
    give(queue, most);
  }

  /** Answers whether any job was given. */
  private boolean give(IdleExecutors queue, int most) {
    boolean given = false;
    for (int count = 0; count < most; ) {
      IdleExecutor waiter = queue.take();
      if (waiter == null) {
        return given;
      }
      if (waiter.isOld()) {
        waiter.endWithoutWork();
        continue;
      }
      long seen = queue.jobsQueued();
      JobClaimer.Claim claim;
      try {
        claim = claim(waiter.session());
      } catch (RuntimeException e) {
        waiter.endWithoutWork();
        throw e;
      }
      if (claim.work() != null) {
        waiter.answer().complete(new PollAnswer.Some(claim.work()));
        given = true;
        count++;
      } else if (!claim.mayWork()) {
        waiter.answer().complete(stop(waiter.session()));
      } else {
        queue.foundEmpty(seen);
        queue.add(waiter);
        if (queue.jobsQueued() == seen) {
          return given;
        }
      }
    }
    return given;
  }

  /**
   * An executor asks for work. Blocks for the database; the answer may come later.
   *
   * @param polls the number of this poll, from 1; null when the executor doesn't count them
   * @param prepared whether it has the agent's script
   */
  CompletableFuture<PollAnswer> poll(
      String executorId, Integer polls, boolean prepared, Duration wait) {
    Optional<ExecutorSession> known = sessions.open(executorId, polls);
    if (known.isEmpty()) {
      return CompletableFuture.completedFuture(new PollAnswer.Stop());
    }
    ExecutorSession session = known.get();
    session.prepared(prepared);
    Optional<Work> lost = claims.handedOut(session);
    if (lost.isPresent()) {
      return CompletableFuture.completedFuture(new PollAnswer.Some(lost.get()));
    }
    if (session.isSpent()) {
      return CompletableFuture.completedFuture(stop(session));
    }
    IdleExecutors queue = queue(session.target());
    queue.dropEarlierPoll(session);
    CompletableFuture<PollAnswer> answer = new CompletableFuture<>();
    IdleExecutor waiter = new IdleExecutor(session, answer);
    while (true) {
      long seen = queue.jobsQueued();
      if (!queue.isKnownEmpty()) {
        JobClaimer.Claim claim = claim(session);
        if (claim.work() != null) {
          return CompletableFuture.completedFuture(new PollAnswer.Some(claim.work()));
        }
        if (!claim.mayWork()) {
          return CompletableFuture.completedFuture(stop(session));
        }
        queue.foundEmpty(seen);
      }
      if (session.isStale()) {
        return CompletableFuture.completedFuture(stop(session));
      }
      session.waiting = answer;
      queue.add(waiter);
      if (queue.jobsQueued() == seen || !queue.remove(waiter)) {
        break;
      }
    }
    Duration patience = min(draining.shorten(min(wait, longestWait)), session.warmthLeft());
    timer.schedule(
        () -> endWait(queue, waiter), Math.max(0, patience.toMillis()), TimeUnit.MILLISECONDS);
    return answer;
  }

  /**
   * Frames have arrived: the executor is alive, and idle from its next poll on when they were the
   * last.
   */
  void heard(String executorId, boolean last) {
    sessions.heard(executorId).filter(session -> last).ifPresent(ExecutorSession::hasWorked);
  }

  void changed(@Observes AgentChanged change) {
    sessions.agentChanged(change);
    queues.forEach(
        (target, queue) -> {
          if (target.agentId().equals(change.agentId())) {
            queue.mayHoldMore(); // With another max_concurrency, more of them may get work.
            if (target.agentRevision() != change.revision()) {
              stopIdle(queue);
            }
          }
        });
    needed.fire(new ExecutorsNeeded());
  }

  /** The executor is no more. */
  void forget(String executorId) {
    stopped.fire(new ExecutorStopped(executorId));
  }

  void stopped(@Observes ExecutorStopped event) {
    leave(event.executorId(), new PollAnswer.Stop());
  }

  void moved(@Observes @FromOtherReplica ExecutorMoved event) {
    leave(event.executorId(), new PollAnswer.None());
  }

  private void leave(String executorId, PollAnswer answer) {
    sessions
        .forget(executorId)
        .map(session -> queues.get(session.target()))
        .ifPresent(
            queue -> queue.remove(executorId).forEach(waiter -> waiter.answer().complete(answer)));
  }

  /** What is remembered may be old: whoever waits asks again, and is read from the database. */
  void lookAgain(@Observes NotificationsLost event) {
    sessions.forgetAll();
    endAllWaits();
  }

  void drain(@Observes Draining.Begun event) {
    endAllWaits();
  }

  private void endAllWaits() {
    for (IdleExecutors queue : queues.values()) {
      queue.mayHoldMore();
      queue.removeAll().forEach(IdleExecutor::endWithoutWork);
    }
  }

  private JobClaimer.Claim claim(ExecutorSession session) {
    JobClaimer.Claim claim;
    try {
      claim = claims.next(session, !session.hasServed());
    } catch (RuntimeException e) {
      // The claim may have been committed all the same: the next poll finds out.
      sessions.forget(session.executorId());
      throw e;
    }
    if (claim.work() != null) {
      session.working = claim.work().executionId();
      session.gotWork();
    }
    return claim;
  }

  private void endWait(IdleExecutors queue, IdleExecutor waiter) {
    if (!queue.remove(waiter)) {
      return;
    }
    PollAnswer answer = new PollAnswer.None();
    try {
      if (waiter.session().warmthLeft().toMillis() <= 0) {
        answer = stop(waiter.session());
      }
    } finally {
      waiter.answer().complete(answer);
    }
  }

  private PollAnswer stop(ExecutorSession session) {
    boolean stopped =
        QuarkusTransaction.requiringNew().call(() -> Executor.stop(session.executorId()));
    sessions.forget(session.executorId());
    needed.fire(new ExecutorsNeeded());
    // Else it is told to stop already, or works: then it polls elsewhere, and nobody reads this.
    return stopped ? new PollAnswer.Stop() : new PollAnswer.None();
  }

  private void stopIdle(IdleExecutors queue) {
    for (IdleExecutor waiter = queue.take(); waiter != null; waiter = queue.take()) {
      // A job of that revision may still wait; its executor then asks again and gets it.
      ExecutorSession session = waiter.session();
      Work work = claim(session).work();
      waiter.answer().complete(work == null ? stop(session) : new PollAnswer.Some(work));
    }
  }

  private IdleExecutors queue(RevisionKey target) {
    return queues.computeIfAbsent(target, key -> new IdleExecutors());
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
