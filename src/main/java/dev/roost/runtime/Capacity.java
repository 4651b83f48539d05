package dev.roost.runtime;

import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The builds and executors for which the runtime has no capacity, as observed by the reconcilers of
 * this process. Another process that takes over observes this state again.
 */
@ApplicationScoped
public class Capacity {
  /** How long Kubernetes takes to record that an ended pod no longer uses resources. */
  private static final Duration NOTED = Duration.ofSeconds(2);

  /** The longest delay of another attempt when pods end continuously. */
  private static final Duration PUT_OFF = Duration.ofSeconds(15);

  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(5);

  /** Somebody else may free or raise the quota, and Kubernetes sends no notification of that. */
  private static final Duration WITHOUT_NOTIFICATION = Duration.ofSeconds(60);

  /** Kubernetes' scheduler pauses for up to 10 s before it considers a pod again. */
  private static final Duration SETTLED = Duration.ofSeconds(15);

  /** A refusal is visible by then. */
  private static final Duration REFUSAL_VISIBLE = Duration.ofSeconds(5);

  private final Map<String, Refused> refused = new ConcurrentHashMap<>();
  private final Map<String, Instant> tries = new ConcurrentHashMap<>();
  private volatile Instant freedAt = Instant.EPOCH;

  /**
   * @param id of an executor or a BuilderJob
   * @param triedAt when the runtime last got a request to start it
   */
  public record Refused(String id, Shortage shortage, Instant triedAt) {
    /**
     * Whether to request the start again. Without a quota, the existing pod keeps waiting: the
     * runtime schedules it, and an autoscaler may add a node because the pod waits.
     *
     * @param freedAt when a build or an executor last ended
     */
    boolean isTriedAgain(Instant freedAt, Instant now) {
      if (!shortage.byQuota() || triedAt.plus(BETWEEN_TRIES).isAfter(now)) {
        return false;
      }
      boolean freed = freedAt.isAfter(triedAt);
      boolean noted = !freedAt.plus(NOTED).isAfter(now) || !triedAt.plus(PUT_OFF).isAfter(now);
      return (freed && noted) || !triedAt.plus(WITHOUT_NOTIFICATION).isAfter(now);
    }

    /** Whether another build or executor has to end: the capacity freed so far was not enough. */
    boolean isShort(Instant freedAt, Instant now) {
      return shortage.byQuota() ? !freedAt.isAfter(triedAt) : !freedAt.plus(SETTLED).isAfter(now);
    }
  }

  /** Records a request to the runtime to start this build or executor. */
  public void tried(String id, Instant now) {
    tries.put(id, now);
    refused.remove(id);
  }

  /** Records that the runtime has no capacity for this build or executor. */
  public void lacks(String id, Shortage shortage, Instant now) {
    refused.put(id, new Refused(id, shortage, tries.computeIfAbsent(id, same -> now)));
  }

  /** Forgets a build or an executor that has its capacity or no longer needs any. */
  public void forget(String id) {
    tries.remove(id);
    refused.remove(id);
  }

  /** Records that this build or executor lacks nothing now. */
  public void suffices(String id) {
    refused.remove(id);
  }

  /** Whether the last attempt is so recent that the runtime may still report a lack of capacity. */
  public boolean isOnTrial(String id, Instant now) {
    Instant tried = tries.get(id);
    return tried != null && tried.plus(REFUSAL_VISIBLE).isAfter(now);
  }

  /**
   * Forgets all builds or executors that aren't in the given set.
   *
   * @param prefix limits this to identifiers with the prefix
   */
  public void keep(String prefix, Set<String> ids) {
    tries.keySet().removeIf(id -> id.startsWith(prefix) && !ids.contains(id));
    refused.keySet().removeIf(id -> id.startsWith(prefix) && !ids.contains(id));
  }

  /** Records the end of a build or an executor that had capacity. */
  public void freed(Instant now) {
    freedAt = now;
  }

  public boolean isTriedAgain(String id, Instant now) {
    return Optional.ofNullable(refused.get(id))
        .map(one -> one.isTriedAgain(freedAt, now))
        .orElse(true);
  }

  /** Everything for which the runtime has no capacity, longest wait first. */
  public List<Refused> refused() {
    return refused.values().stream()
        .sorted(Comparator.comparing(Refused::triedAt).thenComparing(Refused::id))
        .toList();
  }

  /** The refused builds and executors that need another one to end. */
  public List<Refused> shortOf(Instant now) {
    return refused().stream().filter(one -> one.isShort(freedAt, now)).toList();
  }
}
