package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Look-ups at the same time share a call; one after another has its own, with its own result. */
class LookupsTest {
  private final AtomicInteger calls = new AtomicInteger();
  private final CountDownLatch go = new CountDownLatch(1);
  private final Lookups lookups = new Lookups(this::resolve);

  /** Another address each time. */
  private List<InetAddress> resolve(String host) throws UnknownHostException {
    try {
      go.await();
    } catch (InterruptedException e) {
      throw new UnknownHostException("interrupted");
    }
    int call = calls.incrementAndGet();
    if (host.equals("fails.example.org")) {
      throw new UnknownHostException(host + " " + call);
    }
    return List.of(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) call}));
  }

  @AfterEach
  void stop() {
    lookups.stop();
  }

  @Test
  void lookUpsAtTheSameTimeShareACall() {
    CompletableFuture<List<InetAddress>> first = lookups.of("a.example.org");
    CompletableFuture<List<InetAddress>> second = lookups.of("a.example.org");
    go.countDown();
    assertEquals(first.join(), second.join());
    assertEquals(1, calls.get());
  }

  @Test
  void whoeverHasAnAnswerLooksUpAgain() {
    CompletableFuture<String> two =
        lookups
            .of("a.example.org")
            .thenCompose(
                first -> lookups.of("a.example.org").thenApply(second -> first + " " + second));
    go.countDown();
    assertEquals("[/127.0.0.1] [/127.0.0.2]", two.join());
  }

  @Test
  void aFailureIsNotKeptEither() {
    CompletableFuture<List<InetAddress>> two =
        lookups
            .of("fails.example.org")
            .exceptionallyCompose(failure -> lookups.of("fails.example.org"));
    go.countDown();
    Throwable failure = assertThrows(CompletionException.class, two::join);
    assertEquals("fails.example.org 2", failure.getCause().getMessage());
  }
}
