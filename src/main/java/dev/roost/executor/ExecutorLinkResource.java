package dev.roost.executor;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.agent.PreloadReport;
import dev.roost.agent.Preloads;
import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Takes;
import dev.roost.cluster.Waiting;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.state.ExecutorState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jboss.resteasy.reactive.RestQuery;

/**
 * The executor link, version 1: {@code docs/executor-link.md}. Only executors use it. The
 * operations on stores are in {@link StoreRoute}.
 */
@Path("/internal/v1")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class ExecutorLinkResource {
  /** The version of the protocol: {@code PROTOCOL} of {@code roost_executor}. */
  static final int PROTOCOL = 1;

  private static final int MAX_WAIT_SECONDS = 60;

  /** Longer than the usual interval: many heartbeats wait at a time, and each ends soon anyway. */
  private static final Duration HEARTBEAT_LOOK = Duration.ofSeconds(5);

  private final ExecutorTokens tokens;
  private final Dispatcher dispatcher;
  private final FrameIntake intake;
  private final LostCauses causes;
  private final Waiting waiting;
  private final ObjectMapper mapper;
  private final Clock clock;

  ExecutorLinkResource(
      ExecutorTokens tokens,
      Dispatcher dispatcher,
      FrameIntake intake,
      LostCauses causes,
      Waiting waiting,
      ObjectMapper mapper,
      Clock clock) {
    this.tokens = tokens;
    this.dispatcher = dispatcher;
    this.intake = intake;
    this.causes = causes;
    this.waiting = waiting;
    this.mapper = mapper;
    this.clock = clock;
  }

  @POST
  @Path("executors/{id}/poll")
  @org.eclipse.microprofile.openapi.annotations.Operation(hidden = true)
  public Uni<Response> poll(
      String id,
      @RestQuery("wait") int waitSeconds,
      @Context RoutingContext routing,
      byte[] bytes) {
    ExecutorTokens.Bearer bearer = LinkFilter.bearer(routing);
    LinkFilter.requireOwn(id, bearer);
    Body body = Body.parse(bytes);
    requireProtocol(body);
    Poll poll =
        new Poll(
            body.integer("polls", 1, Integer.MAX_VALUE).orElse(null),
            isTrue(body, "prepared"),
            isTrue(body, "drafts"),
            body.strings("running").map(Set::copyOf).orElse(Set.of()));
    return Uni.createFrom()
        .completionStage(dispatcher.poll(id, poll, seconds(waitSeconds)))
        .map(
            answer -> {
              Response.ResponseBuilder response = answer(answer);
              if (bearer.renew()) {
                response.header("Roost-Token", tokens.make(id));
              }
              return response.build();
            });
  }

  private static boolean isTrue(Body body, String name) {
    return body.json(name).map(value -> value.text().equals("true")).orElse(false);
  }

  /**
   * The executor's image may belong to another release, and its process may be older than this one.
   */
  private static void requireProtocol(Body body) {
    Optional<Integer> spoken = body.integer("protocol", 0, Integer.MAX_VALUE);
    if (!spoken.equals(Optional.of(PROTOCOL))) {
      throw Problem.invalid(
          "/protocol",
          "unsupported_protocol",
          "This control plane speaks version %d of the executor link; the executor speaks %s."
              .formatted(PROTOCOL, spoken.map(version -> "version " + version).orElse("none")));
    }
  }

  private static Response.ResponseBuilder answer(PollAnswer answer) {
    if (answer instanceof PollAnswer.Some some) {
      return Response.ok(some.work());
    }
    return answer instanceof PollAnswer.Stop
        ? Response.status(Response.Status.GONE)
        : Response.noContent();
  }

  /**
   * Stores what the executor has imported in advance, for the executors of its revision that start
   * later, and for people.
   */
  @POST
  @Path("executors/{id}/preload")
  @Takes(BodySize.PRELOAD)
  @org.eclipse.microprofile.openapi.annotations.Operation(hidden = true)
  public void preload(String id, @Context RoutingContext routing, byte[] bytes) {
    LinkFilter.requireOwn(id, LinkFilter.bearer(routing));
    PreloadReport report = PreloadReport.parse(bytes);
    QuarkusTransaction.requiringNew().run(() -> store(id, report));
  }

  private void store(String id, PreloadReport report) {
    Executor executor = Executor.findById(id);
    if (executor == null || executor.state == ExecutorState.ENDED) {
      throw Problem.of(ErrorCode.CONFLICT, "The executor has ended.");
    }
    if (report.revision() != executor.agentRevision) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "The executor runs revision %d of its agent, not revision %d."
              .formatted(executor.agentRevision, report.revision()));
    }
    if (!Preloads.store(executor.agentId, report, clock.instant())) {
      throw Problem.of(ErrorCode.CONFLICT, "Executors of this revision import nothing in advance.");
    }
  }

  @POST
  @Path("executions/{id}/frames")
  @Takes(BodySize.FRAMES)
  @Consumes("application/x-ndjson")
  @org.eclipse.microprofile.openapi.annotations.Operation(hidden = true)
  public Uni<Acknowledgement> frames(
      String id,
      @RestQuery("wait") Integer waitSeconds,
      @Context RoutingContext routing,
      byte[] bytes) {
    String executorId = LinkFilter.bearer(routing).executorId();
    List<Frame> frames = Frame.parseLines(mapper, bytes);
    if (causes.areMissing(frames)) {
      return causes
          .of(executorId)
          .map(cause -> LostCauses.explained(frames, cause))
          .map(explained -> taken(executorId, id, explained));
    }
    Acknowledgement now = taken(executorId, id, frames);
    if (waitSeconds == null || !frames.isEmpty() || now.cancel()) {
      return Uni.createFrom().item(now);
    }
    return waiting.until(
        ExecutorJobs.cancelTopic(id),
        seconds(waitSeconds),
        HEARTBEAT_LOOK,
        () -> {
          FrameIntake.Ack look = intake.take(executorId, id, List.of());
          return look.cancel() || look.last()
              ? Optional.of(Acknowledgement.of(look))
              : Optional.empty();
        },
        () -> now);
  }

  private Acknowledgement taken(String executorId, String id, List<Frame> frames) {
    FrameIntake.Ack ack = intake.take(executorId, id, frames);
    dispatcher.heard(executorId, id, ack.last());
    return Acknowledgement.of(ack);
  }

  /** The answer to frames. */
  public record Acknowledgement(int acknowledged, boolean cancel) {
    static Acknowledgement of(FrameIntake.Ack ack) {
      return new Acknowledgement(ack.acknowledged(), ack.cancel());
    }
  }

  private static Duration seconds(int seconds) {
    return Duration.ofSeconds(Math.max(0, Math.min(MAX_WAIT_SECONDS, seconds)));
  }
}
