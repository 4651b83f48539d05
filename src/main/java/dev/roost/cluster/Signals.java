package dev.roost.cluster;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tells whoever waits, on any replica, that something about a resource has changed. A hint and
 * nothing more: whoever is woken reads the database, and whoever must not miss a change also looks
 * now and then by itself.
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
   * The next signal on that topic. To miss none, ask for it first, then read the state, then wait.
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

  /** After the transaction that made the change. */
  public void fire(String topic) {
    fireHere(topic);
    replicas.tellTopic(topic);
  }

  /** Of whoever waits for anything in this process. */
  void fireAllHere() {
    waiting.keySet().forEach(this::fireHere);
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
