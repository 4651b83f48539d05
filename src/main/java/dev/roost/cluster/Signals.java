package dev.roost.cluster;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notifies waiting requests and loops, on any replica, of a change of a resource. A signal carries
 * no data and may be lost: receivers read the database, and receivers that must not miss a change
 * also poll.
 */
@ApplicationScoped
public class Signals {
  private final ConcurrentHashMap<String, Set<CompletableFuture<Void>>> waiting =
      new ConcurrentHashMap<>();

  private final Replicas replicas;

  public Signals(Replicas replicas) {
    this.replicas = replicas;
  }

  /**
   * The next signal on that topic. To miss no signal, first call this method, then read the state,
   * then wait.
   *
   * @param topic a resource's identifier
   */
  public CompletableFuture<Void> next(String topic) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    waiting.compute(
        topic,
        (key, futures) -> {
          Set<CompletableFuture<Void>> all =
              futures == null ? ConcurrentHashMap.newKeySet() : futures;
          all.add(future);
          return all;
        });
    future.whenComplete((nothing, failure) -> remove(topic, future));
    return future;
  }

  /** Call after the commit of the change. */
  public void fire(String topic) {
    fireHere(topic);
    replicas.tellTopic(topic);
  }

  /** Signals all topics in this process on which somebody waits now. */
  void fireAllHere() {
    // A copy: who waits again at once would be found again and again.
    List.copyOf(waiting.keySet()).forEach(this::fireHere);
  }

  public void fireHere(String topic) {
    Set<CompletableFuture<Void>> futures = waiting.remove(topic);
    if (futures != null) {
      futures.forEach(future -> future.complete(null));
    }
  }

  private void remove(String topic, CompletableFuture<Void> future) {
    waiting.computeIfPresent(
        topic,
        (key, futures) -> {
          futures.remove(future);
          return futures.isEmpty() ? null : futures;
        });
  }
}
