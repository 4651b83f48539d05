package dev.roost.swarmnode;

import dev.roost.api.Authentication;
import dev.roost.api.Credential;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.cluster.OpenStreams;
import dev.roost.cluster.Waiting;
import dev.roost.db.TransientErrors;
import dev.roost.event.EventLog;
import dev.roost.event.EventTail;
import dev.roost.execution.ExecutorJob;
import dev.roost.schedule.Schedule;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.smallrye.mutiny.subscription.Cancellable;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Listeners to executions, over WebSockets. No listener occupies a thread or a connection to the
 * database; all of them count as streams ({@link OpenStreams}).
 */
@ApplicationScoped
class ExecutionSockets {
  private static final Logger LOG = Logger.getLogger(ExecutionSockets.class);

  /** Less than the time after which idle connections are closed. */
  private static final long PING_MILLIS = 30_000;

  /** Of the state without a signal, since one may be lost. */
  private static final Duration LOOK = Duration.ofSeconds(5);

  /** Until the client leaves. */
  private static final Duration LONG = Duration.ofDays(3_650);

  private static final Duration FIRST_RETRY = Duration.ofMillis(200);
  private static final Duration LAST_RETRY = Duration.ofSeconds(5);
  private static final int STEP = 100;

  private static final List<String> ENDS =
      List.of("executor_job.succeeded", "executor_job.failed", "executor_job.cancelled");

  private static final String DELETED = "schedule.deleted";

  /** RFC 6455, 7.4.1. */
  private static final short NORMAL = 1_000;

  private static final short GOING_AWAY = 1_001;
  private static final short POLICY_VIOLATION = 1_008;
  private static final short INTERNAL_ERROR = 1_011;

  private final Authentication authentication;
  private final OpenStreams streams;
  private final Waiting waiting;
  private final EventLog events;
  private final EventTail tail;
  private final ExecutionMessages messages;
  private final RouteErrors errors;

  ExecutionSockets(
      Authentication authentication,
      OpenStreams streams,
      Waiting waiting,
      EventLog events,
      EventTail tail,
      ExecutionMessages messages,
      RouteErrors errors) {
    this.authentication = authentication;
    this.streams = streams;
    this.waiting = waiting;
    this.events = events;
    this.tail = tail;
    this.messages = messages;
    this.errors = errors;
  }

  /**
   * What a listener gets.
   *
   * @param messages ends after the last one; failures close the connection
   * @param end runs once, after the last message or when the client has gone
   */
  private record Source(Multi<String> messages, Runnable end) {}

  void routes(@Observes Router router) {
    route(router, "execution/:address/", this::execution);
    route(router, "execution-stream/:address/", this::stream);
    router
        .route(CompatPaths.SOCKETS + "*")
        .order(RouteErrors.EARLY + 1)
        .handler(context -> errors.send(context, noSuchAddress()));
  }

  private void route(Router router, String path, Function<String, Source> open) {
    router
        .get(CompatPaths.SOCKETS + path)
        .order(RouteErrors.EARLY)
        .handler(context -> handshake(context, open));
  }

  /** Everything that may refuse the handshake comes before it. */
  private void handshake(RoutingContext context, Function<String, Source> open) {
    context.request().pause();
    context
        .vertx()
        .executeBlocking(
            () -> {
              Credential credential = authentication.requireKey(context, Role.READ);
              if (!"websocket".equalsIgnoreCase(context.request().getHeader("Upgrade"))) {
                throw Problem.of(ErrorCode.MALFORMED_JSON, "This address is for WebSockets.");
              }
              Listener listener = new Listener();
              listener.count = streams.begin(credential, () -> listener.close(POLICY_VIOLATION));
              try {
                listener.source = open.apply(context.pathParam("address"));
              } catch (RuntimeException e) {
                listener.count.run();
                throw e;
              }
              return listener;
            },
            false)
        .onFailure(e -> refuse(context, e))
        .onSuccess(
            listener ->
                context
                    .request()
                    .toWebSocket()
                    .onSuccess(
                        socket -> {
                          UpgradedRequests.end(context);
                          listener.begin(context, socket);
                        })
                    .onFailure(
                        e -> {
                          listener.end();
                          LOG.debugf("a handshake failed: %s", e.getMessage());
                        }));
  }

  private void refuse(RoutingContext context, Throwable e) {
    context.request().resume();
    errors.refuse(context, e);
  }

  /** The finished execution of one job. */
  private Source execution(String address) {
    String jobId =
        CompatIds.JOB
            .ofAddress(address)
            .filter(id -> exists(() -> ExecutorJob.count("id", id)))
            .orElseThrow(ExecutionSockets::noSuchAddress);
    Uni<Optional<String>> message =
        retried(
            () ->
                waiting.until(
                    List.of(jobId), LONG, LOOK, () -> finished(jobId), Optional::<String>empty));
    return new Source(
        message.toMulti().flatMap(found -> Multi.createFrom().optional(found)), () -> {});
  }

  private Optional<Optional<String>> finished(String jobId) {
    boolean hasEnded = exists(() -> ExecutorJob.count("id = ?1 and finishedAt is not null", jobId));
    return hasEnded ? messages.finished(jobId).map(Optional::of) : Optional.empty();
  }

  /** The finished executions of one cron job from now on. */
  private Source stream(String address) {
    Schedule schedule =
        CompatIds.CRON_JOB
            .ofAddress(address)
            .map(
                id -> QuarkusTransaction.requiringNew().call(() -> Schedule.<Schedule>findById(id)))
            .orElseThrow(ExecutionSockets::noSuchAddress);
    List<String> types = new ArrayList<>(ENDS);
    types.add(DELETED);
    EventLog.Filter filter = new EventLog.Filter(types, schedule.agentId, null);
    AtomicLong position = new AtomicLong(events.latest());
    tail.join();
    Multi<String> all =
        Multi.createBy()
            .repeating()
            .uni(() -> retried(() -> step(schedule.id, filter, position)))
            .whilst(step -> !step.isLast())
            .onItem()
            .transformToMultiAndConcatenate(step -> messages(step.jobIds()));
    return new Source(all, tail::leave);
  }

  /**
   * @param isLast whether the cron job was deleted, or this process stops
   */
  private record Step(List<String> jobIds, boolean isLast) {}

  private Uni<Step> step(String scheduleId, EventLog.Filter filter, AtomicLong position) {
    return waiting.until(
        List.of(EventTail.TOPIC),
        LONG,
        LOOK,
        () -> {
          EventLog.Part part = tail.read(position.get(), STEP, filter);
          boolean isDeleted =
              part.entries().stream()
                  .anyMatch(e -> e.type().equals(DELETED) && e.subject().equals(scheduleId));
          List<String> jobs =
              part.entries().stream()
                  .filter(entry -> ENDS.contains(entry.type()))
                  .map(EventLog.Entry::subject)
                  .filter(id -> isOf(scheduleId, id))
                  .toList();
          position.set(part.next());
          return jobs.isEmpty() && !isDeleted
              ? Optional.<Step>empty()
              : Optional.of(new Step(jobs, isDeleted));
        },
        () -> new Step(List.of(), waiting.isEnding()));
  }

  private static boolean isOf(String scheduleId, String jobId) {
    return exists(() -> ExecutorJob.count("id = ?1 and scheduleId = ?2", jobId, scheduleId));
  }

  private Multi<String> messages(List<String> jobIds) {
    return Multi.createFrom()
        .iterable(jobIds)
        .onItem()
        .transformToUniAndConcatenate(
            id -> retried(() -> Uni.createFrom().item(() -> messages.finished(id).orElse(null))));
  }

  /** On a worker thread; a restart of the database doesn't end the wait. */
  private static <T> Uni<T> retried(Supplier<Uni<T>> work) {
    return Uni.createFrom()
        .deferred(work::get)
        .runSubscriptionOn(Infrastructure.getDefaultWorkerPool())
        .onFailure(TransientErrors::isTransient)
        .retry()
        .withBackOff(FIRST_RETRY, LAST_RETRY)
        .indefinitely();
  }

  private static boolean exists(Supplier<Long> count) {
    return QuarkusTransaction.requiringNew().call(count::get) > 0;
  }

  private static Problem noSuchAddress() {
    return Problem.of(ErrorCode.NOT_FOUND, "There is no such address.");
  }

  /** One connection, from the handshake on. */
  private final class Listener {
    private Runnable count;
    private Source source;
    private ServerWebSocket socket;
    private Cancellable subscription = () -> {};
    private long pings = -1;
    private boolean hasEnded;

    /** On the event loop of the connection. */
    void begin(RoutingContext context, ServerWebSocket opened) {
      synchronized (this) {
        socket = opened;
        if (hasEnded) {
          opened.close(POLICY_VIOLATION);
          return;
        }
      }
      opened.closeHandler(
          closed -> {
            context.vertx().cancelTimer(pings);
            end();
          });
      opened.exceptionHandler(e -> LOG.debugf("a listener has failed: %s", e.getMessage()));
      pings =
          context.vertx().setPeriodic(PING_MILLIS, id -> opened.writePing(Buffer.buffer("roost")));
      // The next message is made when the one before is sent.
      Cancellable begun =
          source
              .messages()
              .onItem()
              .transformToUniAndConcatenate(
                  text ->
                      Uni.createFrom()
                          .completionStage(() -> opened.writeTextMessage(text).toCompletionStage()))
              .subscribe()
              .with(
                  sent -> {},
                  e -> {
                    LOG.warnf(e, "a listener gets no more executions");
                    close(INTERNAL_ERROR);
                  },
                  () -> close(waiting.isEnding() ? GOING_AWAY : NORMAL));
      synchronized (this) {
        subscription = begun;
        if (!hasEnded) {
          return;
        }
      }
      begun.cancel();
    }

    void close(short code) {
      ServerWebSocket open;
      synchronized (this) {
        open = socket;
      }
      if (open == null) {
        end();
      } else if (!open.isClosed()) {
        open.close(code);
      }
    }

    /** Releases what the listener holds, once. */
    void end() {
      Cancellable running;
      synchronized (this) {
        if (hasEnded) {
          return;
        }
        hasEnded = true;
        running = subscription;
      }
      running.cancel();
      count.run();
      if (source != null) {
        source.end().run();
      }
    }
  }
}
