package dev.roost.notification;

import dev.roost.api.Text;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.webhook.Retries;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;

/**
 * Sends notifications: the leader collects them, makes messages, and claims due messages with a
 * lease. When the process ends before it stores a result, the next leader sends the message again,
 * so everything is sent at least once. No thread waits for receivers.
 */
@ApplicationScoped
class Notifications {
  /** Signalled when a message may be due. */
  static final String TOPIC = "notifications";

  private static final Logger LOG = Logger.getLogger(Notifications.class);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** Messages that are being sent at a time; each channel has at most one, and tests. */
  private static final int MOST = 16;

  /** Added to the longest timeout of an attempt. */
  private static final Duration LEASE_BEYOND = Duration.ofSeconds(20);

  private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);
  private static final int ERROR_CHARACTERS = 1_000;

  private final Collector collector;
  private final MessageRepository messages;
  private final Composer composer;
  private final MailSender mail;
  private final SlackSender slack;
  private final Signals signals;
  private final Replicas replicas;
  private final Vertx vertx;
  private final Duration lease;
  private final Loop loop;
  private final Set<String> sending = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  Notifications(
      Collector collector,
      MessageRepository messages,
      Composer composer,
      MailSender mail,
      SlackSender slack,
      Signals signals,
      Replicas replicas,
      Loops loops,
      Vertx vertx,
      RoostConfig config) {
    this.collector = collector;
    this.messages = messages;
    this.composer = composer;
    this.mail = mail;
    this.slack = slack;
    this.signals = signals;
    this.replicas = replicas;
    this.vertx = vertx;
    Duration mailTimeout = config.mail().timeout();
    Duration webhookTimeout = config.webhooks().timeout();
    this.lease =
        (mailTimeout.compareTo(webhookTimeout) > 0 ? mailTimeout : webhookTimeout)
            .plus(LEASE_BEYOND);
    this.loop = loops.make("notifications", this::pass);
  }

  void start(@Observes StartupEvent event) {
    listen();
    loop.start();
  }

  private void listen() {
    signals
        .next(TOPIC)
        .thenRun(
            () -> {
              listen();
              loop.wake();
            });
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    loop.stop();
  }

  private Duration pass() {
    while (!stopping && replicas.isHeld() && collector.collect()) {
      // Until nothing is left.
    }
    collector.seal();
    int free = MOST - sending.size();
    if (!stopping && free > 0) {
      messages.claim(free, sending, lease).forEach(this::send);
    }
    return PAUSE;
  }

  private void send(MessageRepository.Claim claim) {
    Optional<MessageRepository.Content> content = messages.content(claim);
    if (content.isEmpty()) {
      return;
    }
    Channel channel = content.get().channel();
    if (!claim.test() && content.get().isEmpty()) {
      messages.settle(claim, MessageState.DROPPED, "", null, null);
      return;
    }
    Composer.Composed message = claim.test() ? composer.test(channel) : composer.of(content.get());
    sending.add(claim.id());
    attempt(channel, claim, message)
        .whenComplete(
            (result, failure) ->
                end(
                    claim,
                    message.subject(),
                    failure == null
                        ? result
                        : SendResult.failed(channel.withoutSecret(String.valueOf(failure)))));
  }

  /** Turns every failure into a result: a message without one would occupy a slot for ever. */
  private CompletionStage<SendResult> attempt(
      Channel channel, MessageRepository.Claim claim, Composer.Composed message) {
    try {
      return switch (channel.kind()) {
        case EMAIL -> mail.send(channel, claim.id(), message);
        case SLACK -> slack.send(channel, message);
      };
    } catch (RuntimeException e) {
      return CompletableFuture.completedFuture(
          SendResult.failed(
              "it cannot be sent: " + channel.withoutSecret(String.valueOf(e.getMessage()))));
    }
  }

  /** May run on any thread, which must not be blocked. */
  private void end(MessageRepository.Claim claim, String title, SendResult result) {
    vertx
        .executeBlocking(
            () -> {
              settle(claim, title, result);
              return null;
            },
            false)
        .onComplete(
            stored -> {
              sending.remove(claim.id());
              if (stored.failed()) {
                // The lease expires, and the message is sent again.
                LOG.warnf(
                    "the result of %s cannot be stored: %s",
                    claim.id(), stored.cause().getMessage());
              }
              loop.wake();
            });
  }

  private void settle(MessageRepository.Claim claim, String title, SendResult result) {
    String error =
        result.error() == null
            ? null
            : Text.storable(Text.beginning(result.error(), ERROR_CHARACTERS));
    boolean ends =
        result.permanent()
            || claim.test()
            || claim.untried().isNegative()
            || claim.untried().isZero();
    if (result.sent()) {
      messages.settle(claim, MessageState.SUCCEEDED, title, error, null);
    } else if (ends) {
      LOG.warnf("%s of %s is not sent: %s", claim.id(), claim.channelId(), error);
      messages.settle(claim, MessageState.FAILED, title, error, null);
    } else {
      messages.settle(claim, MessageState.PENDING, title, error, pause(claim, result));
    }
    signals.fire(claim.id());
  }

  private static Duration pause(MessageRepository.Claim claim, SendResult result) {
    Duration pause = Retries.pause(claim.untried(), ThreadLocalRandom.current().nextDouble());
    Duration asked = result.retryAfter();
    if (asked == null || asked.compareTo(pause) <= 0) {
      return pause;
    }
    return asked.compareTo(LONGEST_RETRY_AFTER) < 0 ? asked : LONGEST_RETRY_AFTER;
  }
}
