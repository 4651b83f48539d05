package dev.roost.executor;

import dev.roost.agent.AgentChanged;
import dev.roost.execution.Execution;
import dev.roost.execution.ExecutorJobQueued;
import dev.roost.execution.Outcome;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/**
 * Brings waiting ExecutorJobs and polling executors together.
 *
 * <p>An executor without work waits here, in memory and without a thread. Whoever queues a job
 * takes a waiting executor off the queue and claims the oldest job for it; whoever polls tries to
 * claim before it waits. A counter for each agent's revision closes the gap between the two: it
 * moves with every queued job, and a poll that sees it moved tries again.
 */
@ApplicationScoped
public class Dispatcher {
  private static final Logger LOG = Logger.getLogger(Dispatcher.class);

  private final Claims claims;
  private final Sessions sessions;
  private final Clock clock;
  private final ScheduledExecutorService timer;
  private final Event<ExecutorsNeeded> needed;
  private final SecureRandom random = new SecureRandom();
  private final Map<Target, Queue> queues = new ConcurrentHashMap<>();

  Dispatcher(
      Claims claims,
      Sessions sessions,
      Clock clock,
      ScheduledExecutorService timer,
      Event<ExecutorsNeeded> needed) {
    this.claims = claims;
    this.sessions = sessions;
    this.clock = clock;
    this.timer = timer;
    this.needed = needed;
  }

  /**
   * The executors of one target that wait here, the one that worked last first, and how often a job
   * was queued.
   */
  private static final class Queue {
    final ConcurrentLinkedDeque<Waiter> waiters = new ConcurrentLinkedDeque<>();
    final AtomicLong orders = new AtomicLong();

    /**
     * What {@link #orders} was when a claim found nothing: as long as it is, asking again is in
     * vain.
     */
    final AtomicLong emptyAt = new AtomicLong(-1);

    boolean isKnownEmpty() {
      return emptyAt.get() == orders.get();
    }
  }

  private record Waiter(Session session, CompletableFuture<Answer> answer) {}

  void queued(@Observes ExecutorJobQueued order) {
    Target target = new Target(order.agentId(), order.agentRevision());
    Queue queue = queue(target);
    long number = queue.orders.incrementAndGet();
    boolean given = false;
    try {
      given = give(queue, 1);
    } catch (RuntimeException e) {
      // The order stands; the reconciler brings it to an executor.
      LOG.warnf("a job of %s can't be handed over at once: %s", target.agentId(), e.getMessage());
    }
    if (given) {
      // Where nothing waited before, nothing waits now.
      queue.emptyAt.compareAndSet(number - 1, number);
    } else {
      needed.fire(new ExecutorsNeeded());
    }
  }

  /**
   * Gives up to so many waiting jobs to waiting executors of that target; answers whether any job
   * was given.
   */
  boolean offer(Target target, int most) {
    Queue queue = queue(target);
    queue.emptyAt.set(-1);
    return give(queue, most);
  }

  private boolean give(Queue queue, int most) {
    boolean given = false;
    for (int count = 0; count < most; ) {
      Waiter waiter = queue.waiters.pollFirst();
      if (waiter == null) {
        return given;
      }
      if (waiter.answer() != waiter.session().waiting) {
        waiter.answer().complete(new Answer.None()); // its executor has polled again since
        continue;
      }
      long seen = queue.orders.get();
      Optional<Work> work;
      try {
        work = claim(waiter.session());
      } catch (RuntimeException e) {
        waiter.answer().complete(new Answer.None());
        throw e;
      }
      if (work.isPresent()) {
        waiter.answer().complete(new Answer.Some(work.get()));
        given = true;
        count++;
      } else {
        queue.emptyAt.set(seen);
        queue.waiters.addFirst(waiter);
        if (queue.orders.get() == seen) {
          return given;
        }
      }
    }
    return given;
  }

  /**
   * An executor asks for work. Blocks for the database; the answer may come later.
   *
   * @param prepared whether it has the agent's script
   */
  CompletableFuture<Answer> poll(String executorId, boolean prepared, Duration wait) {
    Optional<Session> known = sessions.open(executorId);
    if (known.isEmpty()) {
      return CompletableFuture.completedFuture(new Answer.Stop());
    }
    Session session = known.get();
    session.prepared(prepared);
    Optional<Work> lost = handedOut(session);
    if (lost.isPresent()) {
      return CompletableFuture.completedFuture(new Answer.Some(lost.get()));
    }
    if (session.isSpent()) {
      return CompletableFuture.completedFuture(stop(session));
    }
    Queue queue = queue(session.target());
    dropEarlierPoll(session, queue);
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    Waiter waiter = new Waiter(session, answer);
    while (true) {
      long seen = queue.orders.get();
      if (!queue.isKnownEmpty()) {
        Optional<Work> work = claim(session);
        if (work.isPresent()) {
          return CompletableFuture.completedFuture(new Answer.Some(work.get()));
        }
        queue.emptyAt.set(seen);
      }
      if (session.isStale()) {
        return CompletableFuture.completedFuture(stop(session));
      }
      session.waiting = answer;
      queue.waiters.addFirst(waiter);
      if (queue.orders.get() == seen || !queue.waiters.remove(waiter)) {
        break;
      }
    }
    Duration patience = min(wait, session.warmthLeft());
    timer.schedule(
        () -> endWait(queue, waiter), Math.max(0, patience.toMillis()), TimeUnit.MILLISECONDS);
    return answer;
  }

  /**
   * Frames have arrived: the executor is alive, and idle from its next poll on when they were the
   * last.
   */
  void heard(String executorId, boolean last) {
    sessions
        .heard(executorId)
        .filter(session -> last)
        .ifPresent(
            session -> {
              session.working = null;
              session.isIdleNow();
            });
  }

  void changed(@Observes AgentChanged change) {
    sessions.agentChanged(change);
    queues.forEach(
        (target, queue) -> {
          if (target.agentId().equals(change.agentId())
              && target.agentRevision() != change.revision()) {
            stopIdle(queue);
          }
        });
    needed.fire(new ExecutorsNeeded());
  }

  /**
   * Stops the executor that has been idle longest, to make room for another.
   *
   * @param agentId only one of this agent, or null
   * @param except not one of this target
   */
  boolean makeRoom(String agentId, Target except) {
    Optional<Map.Entry<Target, Queue>> oldest =
        queues.entrySet().stream()
            .filter(entry -> agentId == null || entry.getKey().agentId().equals(agentId))
            .filter(entry -> !entry.getKey().equals(except))
            .filter(entry -> entry.getValue().waiters.peekLast() != null)
            .min(Comparator.comparingLong(entry -> idleSince(entry.getValue())));
    if (oldest.isEmpty()) {
      return false;
    }
    Waiter waiter = oldest.get().getValue().waiters.pollLast();
    return waiter != null && waiter.answer().complete(stop(waiter.session()));
  }

  /** The executor is no more. */
  void forget(String executorId) {
    sessions
        .forget(executorId)
        .map(session -> queues.get(session.target()))
        .ifPresent(
            queue ->
                queue.waiters.removeIf(waiter -> waiter.session().executorId().equals(executorId)));
  }

  /**
   * Work that was given to this executor and that it knows nothing of, since it polls: the answer
   * got lost.
   */
  private Optional<Work> handedOut(Session session) {
    String executionId = session.working;
    if (executionId == null) {
      return Optional.empty();
    }
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              Execution execution = Execution.findById(executionId);
              if (execution.hasEnded()) {
                session.working = null;
                return Optional.empty();
              }
              if (execution.acknowledged == 0) {
                return Optional.of(claims.again(session, executionId));
              }
              Outcome outcome = Outcome.lost("The executor forgot the execution.", clock.instant());
              Execution.finish(executionId, outcome, true, random);
              session.working = null;
              return Optional.empty();
            });
  }

  /**
   * An executor polls once at a time: an earlier poll that still waits here has lost its
   * connection.
   */
  private static void dropEarlierPoll(Session session, Queue queue) {
    CompletableFuture<Answer> earlier = session.waiting;
    if (earlier != null && queue.waiters.removeIf(waiter -> waiter.answer() == earlier)) {
      earlier.complete(new Answer.None());
    }
  }

  private Optional<Work> claim(Session session) {
    Optional<Work> work;
    try {
      work =
          QuarkusTransaction.requiringNew().call(() -> claims.next(session, !session.hasServed()));
    } catch (RuntimeException e) {
      // The claim may have been committed all the same: the next poll finds out.
      sessions.forget(session.executorId());
      throw e;
    }
    work.ifPresent(
        given -> {
          session.working = given.executionId();
          session.gotWork();
        });
    return work;
  }

  private void endWait(Queue queue, Waiter waiter) {
    if (!queue.waiters.remove(waiter)) {
      return;
    }
    Answer answer = new Answer.None();
    try {
      if (waiter.session().warmthLeft().toMillis() <= 0) {
        answer = stop(waiter.session());
      }
    } finally {
      waiter.answer().complete(answer);
    }
  }

  private static long idleSince(Queue queue) {
    Waiter last = queue.waiters.peekLast();
    return last == null ? Long.MAX_VALUE : last.session().idleSince();
  }

  private Answer stop(Session session) {
    QuarkusTransaction.requiringNew().run(() -> Executor.stop(session.executorId()));
    sessions.forget(session.executorId());
    needed.fire(new ExecutorsNeeded());
    return new Answer.Stop();
  }

  private void stopIdle(Queue queue) {
    for (Waiter waiter = queue.waiters.pollFirst();
        waiter != null;
        waiter = queue.waiters.pollFirst()) {
      // A job of that revision may still wait; its executor then asks again and gets it.
      Session session = waiter.session();
      Optional<Work> work = claim(session);
      waiter.answer().complete(work.<Answer>map(Answer.Some::new).orElseGet(() -> stop(session)));
    }
  }

  private Queue queue(Target target) {
    return queues.computeIfAbsent(target, key -> new Queue());
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
