package dev.roost.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * A copy of some objects, kept up to date by a watch. The copy can be late, and a watch can end
 * silently, so what matters is confirmed by a direct read. A dead watch looks like one without
 * changes, so each watch is replaced after a while by a new one, which starts with a complete list.
 */
final class Watch<T extends HasMetadata> implements AutoCloseable {
  private static final Logger LOG = Logger.getLogger(Watch.class);
  private static final long NEVER = -1;
  private static final String LABELS = "labels";

  private final Supplier<SharedIndexInformer<T>> make;
  private final Runnable changed;
  private final Consumer<T> removed;
  private final String name;
  private volatile SharedIndexInformer<T> informer;

  /** Replaces the informer as soon as its list is complete; null most of the time. */
  private SharedIndexInformer<T> successor;

  private long deadSince = NEVER;
  private long startedAt;

  /**
   * @param make creates an informer
   * @param changed runs after each change
   * @param removed receives the last state of a removed object, when the watch delivers it
   */
  Watch(String name, Supplier<SharedIndexInformer<T>> make, Runnable changed, Consumer<T> removed) {
    this.name = name;
    this.make = make;
    this.changed = changed;
    this.removed = removed;
  }

  /** The copies with a label value. */
  List<T> labelled(String label, String value) {
    return running().getIndexer().byIndex(LABELS, label + "=" + value);
  }

  Optional<T> named(String namespace, String objectName) {
    return Optional.ofNullable(running().getStore().getByKey(namespace + "/" + objectName));
  }

  Set<String> values(String label) {
    return running().getStore().list().stream()
        .map(one -> one.getMetadata().getLabels().get(label))
        .filter(value -> value != null)
        .collect(Collectors.toSet());
  }

  /** Whether the first list is complete and the watch still receives changes. */
  boolean isLive() {
    SharedIndexInformer<T> current = informer;
    return current != null && current.hasSynced() && current.isWatching();
  }

  /**
   * Replaces a watch that has been dead for longer than {@code patienceNanos}, repeatedly until one
   * is live, and a live one that is older than {@code ageNanos}.
   *
   * @return how long the watch has been dead, in nanoseconds; 0 when it is live
   */
  synchronized long lookAfter(long patienceNanos, long ageNanos) {
    long now = System.nanoTime();
    if (informer == null || isLive()) {
      deadSince = NEVER;
      renew(now, ageNanos);
      return 0;
    }
    if (deadSince == NEVER) {
      deadSince = now;
      startedAt = now;
    }
    long dead = now - deadSince;
    if (now - startedAt > patienceNanos) {
      LOG.warnf(
          "The watch of %s has been dead for %d s; starting another", name, dead / 1_000_000_000L);
      close();
      running();
    }
    return dead;
  }

  private void renew(long now, long ageNanos) {
    if (informer == null || now - startedAt < ageNanos) {
      return;
    }
    if (successor == null) {
      successor = begin();
    } else if (successor.hasSynced() && successor.isWatching()) {
      informer.stop();
      informer = successor;
      successor = null;
      startedAt = now;
      changed.run();
    }
  }

  private SharedIndexInformer<T> running() {
    SharedIndexInformer<T> current = informer;
    return current == null ? start() : current;
  }

  private synchronized SharedIndexInformer<T> start() {
    if (informer == null) {
      startedAt = System.nanoTime();
      informer = begin();
    }
    return informer;
  }

  private SharedIndexInformer<T> begin() {
    SharedIndexInformer<T> fresh = make.get();
    fresh.removeNamespaceIndex();
    fresh.addIndexers(Map.of(LABELS, Watch::labels));
    fresh.addEventHandler(new Wake());
    // The informer retries forever.
    fresh.exceptionHandler((isStarted, failure) -> true);
    fresh.start();
    return fresh;
  }

  private static List<String> labels(HasMetadata one) {
    return one.getMetadata().getLabels().entrySet().stream()
        .map(label -> label.getKey() + "=" + label.getValue())
        .toList();
  }

  private final class Wake implements ResourceEventHandler<T> {
    @Override
    public void onAdd(T added) {
      changed.run();
    }

    @Override
    public void onUpdate(T before, T after) {
      changed.run();
    }

    @Override
    public void onDelete(T deleted, boolean lastStateUnknown) {
      removed.accept(deleted);
      changed.run();
    }
  }

  @Override
  public synchronized void close() {
    if (informer != null) {
      informer.stop();
      informer = null;
    }
    if (successor != null) {
      successor.stop();
      successor = null;
    }
  }
}
