package dev.roost.webhook;

import dev.roost.cluster.Leadership;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.cluster.Signals;
import dev.roost.event.EventLog;
import dev.roost.state.DeliveryState;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Sends deliveries. The leader claims due deliveries with a lease. When the process ends before it
 * stores a result, the next leader sends the delivery again, so a receiver gets everything at least
 * once. No thread waits for responses; the next pass stores all results at once.
 */
@ApplicationScoped
class Deliveries {
  /** Signalled when more deliveries may be due. */
  static final String TOPIC = "webhooks";

  private static final Logger LOG = Logger.getLogger(Deliveries.class);

  /** Added to the timeout of an attempt. */
  private static final Duration LEASE_BEYOND = Duration.ofSeconds(20);

  /** Limits the delay after a lost signal. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(1);

  /** How long a stopping process waits for responses. */
  private static final Duration STOP = Duration.ofSeconds(2);

  private final DeliveryRepository book;
  private final WebhookSender sender;
  private final Signals signals;
  private final Leadership leadership;
  private final Vertx vertx;
  private final Clock clock;
  private final Duration lease;
  private final Loop loop;
  private final DeliveryMeters meters;
  private final ConcurrentLinkedQueue<Ended> ended = new ConcurrentLinkedQueue<>();
  private final Object monitor = new Object();
  private final Slots slots = new Slots();
  private final Map<String, Claim> sending = new HashMap<>();
  private volatile long lastSweep;
  private volatile boolean stopping;

  Deliveries(
      DeliveryRepository book,
      WebhookSender sender,
      Signals signals,
      Replicas replicas,
      Loops loops,
      Vertx vertx,
      Clock clock,
      WebhookSettings settings,
      DeliveryMeters meters) {
    this.book = book;
    this.sender = sender;
    this.signals = signals;
    this.leadership = replicas;
    this.vertx = vertx;
    this.clock = clock;
    this.meters = meters;
    this.lease = settings.timeout().plus(LEASE_BEYOND);
    this.loop = loops.make("webhook-deliveries", this::pass);
    this.lastSweep = System.nanoTime() - BETWEEN_SWEEPS.toNanos();
  }

  /** An ended attempt; times are of System.nanoTime. */
  private record Ended(Claim claim, EndpointResponse answer, long begun, long over) {}

  void start(@Observes StartupEvent event) {
    listen(EventLog.TOPIC);
    listen(TOPIC);
    leadership.whenGained(() -> lastSweep = System.nanoTime() - BETWEEN_SWEEPS.toNanos());
    loop.start();
  }

  private void listen(String topic) {
    signals
        .next(topic)
        .thenRun(
            () -> {
              listen(topic);
              loop.wake();
            });
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    loop.stop();
    long end = System.nanoTime() + STOP.toNanos();
    synchronized (monitor) {
      try {
        while (sending.size() > ended.size() && end - System.nanoTime() > 0) {
          TimeUnit.NANOSECONDS.timedWait(monitor, Math.max(1, end - System.nanoTime()));
        }
        settle();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (RuntimeException e) {
        LOG.warnf("the results of deliveries cannot be stored: %s", e.getMessage());
      }
    }
    sender.stop();
  }

  private Duration pass() {
    synchronized (monitor) {
      settle();
      long now = System.nanoTime();
      if (now - lastSweep >= BETWEEN_SWEEPS.toNanos()) {
        book.sweep();
        lastSweep = now;
      }
      if (stopping || slots.capacity() == 0) {
        return LONGEST_PAUSE;
      }
      book.claim(slots, sending.keySet(), lease).forEach(this::send);
      if (slots.capacity() == 0) {
        return LONGEST_PAUSE;
      }
      return book.next(slots, sending.keySet())
          .filter(pause -> pause.compareTo(LONGEST_PAUSE) < 0)
          .map(pause -> pause.isNegative() ? Duration.ZERO : pause)
          .orElse(LONGEST_PAUSE);
    }
  }

  private void send(Claim claim) {
    slots.begin(claim.webhookId());
    sending.put(claim.deliveryId(), claim);
    long begun = System.nanoTime();
    if (claim.event() == null) {
      end(new Ended(claim, EndpointResponse.failed("the event has been deleted"), begun, begun));
      return;
    }
    answer(claim)
        .whenComplete(
            (answer, failure) -> {
              EndpointResponse known =
                  failure == null ? answer : EndpointResponse.failed(String.valueOf(failure));
              end(new Ended(claim, known, begun, System.nanoTime()));
            });
  }

  /** Turns every failure into a response: a claim without a result would occupy a slot forever. */
  private CompletionStage<EndpointResponse> answer(Claim claim) {
    try {
      return sender.send(message(claim));
    } catch (RuntimeException e) {
      LOG.errorf(e, "%s cannot be sent", claim);
      return CompletableFuture.completedFuture(
          EndpointResponse.failed("it cannot be sent: " + e.getMessage()));
    }
  }

  private WebhookSender.Message message(Claim claim) {
    byte[] body = claim.event().json().getBytes(StandardCharsets.UTF_8);
    long seconds = clock.instant().getEpochSecond();
    return new WebhookSender.Message(
        claim.url(),
        Map.of(
            "Content-Type", CloudEvent.MEDIA_TYPE,
            "User-Agent", "Roost",
            "webhook-id", claim.deliveryId(),
            "webhook-timestamp", Long.toString(seconds),
            "webhook-signature",
                Signature.header(claim.secrets(), claim.deliveryId(), seconds, body)),
        body);
  }

  /** May run on any thread, which must not be blocked. */
  private void end(Ended attempt) {
    ended.add(attempt);
    loop.wake();
    if (stopping || !leadership.isHeld()) {
      // No further pass runs, but the results should be stored.
      vertx.executeBlocking(
          () -> {
            synchronized (monitor) {
              monitor.notifyAll();
              settle();
            }
            return null;
          },
          false);
    }
  }

  /** Stores the results of attempts; after a failure they are kept for the next pass. */
  private void settle() {
    List<Ended> batch = new ArrayList<>();
    for (Ended attempt = ended.poll(); attempt != null; attempt = ended.poll()) {
      batch.add(attempt);
    }
    if (batch.isEmpty()) {
      return;
    }
    try {
      book.settle(batch.stream().map(this::outcome).toList())
          .forEach(id -> LOG.warnf("webhook %s is disabled; see its message", id));
    } catch (RuntimeException e) {
      ended.addAll(batch);
      throw e;
    }
    for (Ended attempt : batch) {
      Claim claim = attempt.claim();
      sending.remove(claim.deliveryId());
      meters.ended(attempt.answer(), Duration.ofNanos(attempt.over() - attempt.begun()));
      slots.end(claim.webhookId(), attempt.answer().late());
      if (claim.isTest()) {
        signals.fire(claim.webhookId());
      }
    }
  }

  private DeliveryRepository.Outcome outcome(Ended attempt) {
    Claim claim = attempt.claim();
    Duration duration = Duration.ofNanos(attempt.over() - attempt.begun());
    Verdict verdict =
        claim.event() == null
            ? new Verdict(DeliveryState.FAILED, null, null)
            : Verdict.of(
                attempt.answer(),
                claim.isTest(),
                claim.untried().minus(duration),
                ThreadLocalRandom.current().nextDouble());
    return new DeliveryRepository.Outcome(
        claim,
        attempt.answer(),
        verdict,
        Duration.ofNanos(System.nanoTime() - attempt.begun()),
        duration);
  }
}
