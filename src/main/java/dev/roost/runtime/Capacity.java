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
 * The builds and executors for which the runtime has no capacity, as the reconcilers of this
 * process have seen it. Another process that takes over sees it anew.
 */
@ApplicationScoped
public class Capacity {
  /** Until Kubernetes has noted that what ended uses nothing any more. */
  private static final Duration NOTED = Duration.ofSeconds(2);

  /** What ends all the time must not put a further try off for longer. */
  private static final Duration PUT_OFF = Duration.ofSeconds(15);

  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(5);

  /** Quota may be freed or raised by others, of which nobody tells. */
  private static final Duration UNTOLD = Duration.ofSeconds(60);

  /** Kubernetes' scheduler pauses for up to 10 s before it looks at a pod again. */
  private static final Duration SETTLED = Duration.ofSeconds(15);

  /** A refusal is seen by then. */
  private static final Duration TOLD = Duration.ofSeconds(5);

  private final Map<String, Refused> refused = new ConcurrentHashMap<>();
  private final Map<String, Instant> tries = new ConcurrentHashMap<>();
  private volatile Instant freedAt = Instant.EPOCH;

  /**
   * @param id of an executor or a BuilderJob
   * @param triedAt when it was given to the runtime
   */
  public record Refused(String id, Shortage shortage, Instant triedAt) {
    /**
     * Whether to give it to the runtime once more. What no machine has room for stays there: the
     * runtime itself looks for one, and a cluster may be given a node because it waits.
     *
     * @param freedAt when a build or an executor ended last
     */
    boolean isTriedAgain(Instant freedAt, Instant now) {
      if (!shortage.byQuota() || triedAt.plus(BETWEEN_TRIES).isAfter(now)) {
        return false;
      }
      boolean freed = freedAt.isAfter(triedAt);
      boolean noted = !freedAt.plus(NOTED).isAfter(now) || !triedAt.plus(PUT_OFF).isAfter(now);
      return (freed && noted) || !triedAt.plus(UNTOLD).isAfter(now);
    }

    /** Whether something has to end for it: what has ended so far was seen, and isn't enough. */
    boolean isShort(Instant freedAt, Instant now) {
      return shortage.byQuota() ? !freedAt.isAfter(triedAt) : !freedAt.plus(SETTLED).isAfter(now);
    }
  }

  /** It is given to the runtime now. */
  public void tried(String id, Instant now) {
    tries.put(id, now);
    refused.remove(id);
  }

  /** The runtime has no capacity for it. */
  public void lacks(String id, Shortage shortage, Instant now) {
    refused.put(id, new Refused(id, shortage, tries.computeIfAbsent(id, same -> now)));
  }

  /** It has what it needs, or needs nothing any more. */
  public void forget(String id) {
    tries.remove(id);
    refused.remove(id);
  }

  /** It lacks nothing now. */
  public void suffices(String id) {
    refused.remove(id);
  }

  /** Whether it was tried so lately that the runtime may say later that it lacks capacity. */
  public boolean isOnTrial(String id, Instant now) {
    Instant tried = tries.get(id);
    return tried != null && tried.plus(TOLD).isAfter(now);
  }

  /**
   * Forgets what isn't among those.
   *
   * @param prefix of the identifiers that this is about
   */
  public void keep(String prefix, Set<String> ids) {
    tries.keySet().removeIf(id -> id.startsWith(prefix) && !ids.contains(id));
    refused.keySet().removeIf(id -> id.startsWith(prefix) && !ids.contains(id));
  }

  /** A build or an executor that had capacity has ended. */
  public void freed(Instant now) {
    freedAt = now;
  }

  public boolean isTriedAgain(String id, Instant now) {
    return Optional.ofNullable(refused.get(id))
        .map(one -> one.isTriedAgain(freedAt, now))
        .orElse(true);
  }

  /** All for which the runtime has no capacity, those first that have waited longest. */
  public List<Refused> refused() {
    return refused.values().stream()
        .sorted(Comparator.comparing(Refused::triedAt).thenComparing(Refused::id))
        .toList();
  }

  /** Those of them for which something has to end. */
  public List<Refused> shortOf(Instant now) {
    return refused().stream().filter(one -> one.isShort(freedAt, now)).toList();
  }
}
