package dev.roost.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Calls the resolver on separate threads. Concurrent look-ups of a name share one call, so a name
 * whose resolution hangs blocks one thread, regardless of the number of deliveries.
 */
final class Lookups {
  private static final int MOST = 32;
  private static final long IDLE_SECONDS = 30;

  private final Resolver resolver;
  private final ConcurrentHashMap<String, CompletableFuture<List<InetAddress>>> running =
      new ConcurrentHashMap<>();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0, MOST, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), Lookups::thread);

  Lookups(Resolver resolver) {
    this.resolver = resolver;
  }

  /**
   * Fails with UnknownHostException, or with RejectedExecutionException when too many look-ups run.
   */
  CompletableFuture<List<InetAddress>> of(String host) {
    CompletableFuture<List<InetAddress>> mine = new CompletableFuture<>();
    CompletableFuture<List<InetAddress>> earlier = running.putIfAbsent(host, mine);
    if (earlier != null) {
      return earlier;
    }
    try {
      threads.execute(() -> resolve(host, mine));
    } catch (RejectedExecutionException e) {
      fail(host, mine, e);
    }
    return mine;
  }

  private void resolve(String host, CompletableFuture<List<InetAddress>> answer) {
    try {
      List<InetAddress> found = resolver.resolve(host);
      running.remove(host, answer); // first, so that whoever gets the answer can look up again
      answer.complete(found);
    } catch (UnknownHostException | RuntimeException e) {
      fail(host, answer, e);
    }
  }

  private void fail(String host, CompletableFuture<List<InetAddress>> answer, Exception cause) {
    running.remove(host, answer);
    answer.completeExceptionally(cause);
  }

  void stop() {
    threads.shutdownNow();
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "webhook-lookup");
    thread.setDaemon(true);
    return thread;
  }

  /** The cause of the failure, without the wrapper of futures. */
  static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
