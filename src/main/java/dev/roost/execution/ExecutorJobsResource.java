package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.config.RoostConfig;
import dev.roost.event.Waiting;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** ExecutorJobs: order, list, retrieve, cancel. */
@Path("/v1")
@Tag(name = "Executions")
@Blocking
public class ExecutorJobsResource {
  private static final int MAX_WAIT_SECONDS = 60;

  private final Orders orders;
  private final Waiting waiting;
  private final RoostConfig config;

  ExecutorJobsResource(Orders orders, Waiting waiting, RoostConfig config) {
    this.orders = orders;
    this.waiting = waiting;
    this.config = config;
  }

  /** The schema of the body of an order. */
  @Schema(name = "ExecuteRequest")
  record ExecuteRequest(
      @Schema(description = "Any JSON value; without it, request.payload is None.")
          JsonText payload) {}

  @POST
  @Path("agents/{id}/execute")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      summary = "Execute an agent",
      description =
          "Makes an ExecutorJob. With wait, the answer is held until it has ended or the time is over.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = ExecuteRequest.class),
              examples =
                  @ExampleObject(name = "greet Ada", value = "{\"payload\": {\"name\": \"Ada\"}}")))
  @APIResponse(
      responseCode = "201",
      description = "The order was made",
      content = @Content(schema = @Schema(implementation = ExecutorJob.View.class)))
  @APIResponse(
      responseCode = "200",
      description = "The order that an earlier request with this Idempotency-Key made",
      content = @Content(schema = @Schema(implementation = ExecutorJob.View.class)))
  public Uni<Response> execute(
      String id,
      @Parameter(description = "Seconds, 0 to 60") @RestQuery("wait") Integer waitSeconds,
      @HeaderParam("Idempotency-Key") String idempotencyKey,
      byte[] bytes) {
    Duration wait = wait(waitSeconds);
    if (idempotencyKey != null && (idempotencyKey.isBlank() || idempotencyKey.length() > 255)) {
      throw Problem.invalid(
          "Idempotency-Key", "out_of_range", "Idempotency-Key must have 1 to 255 characters.");
    }
    Body body = Body.parse(bytes);
    Optional<JsonText> payload = body.json("payload");
    body.check();
    payload.ifPresent(
        value -> {
          int size = value.text().getBytes(StandardCharsets.UTF_8).length;
          if (size > config.limits().payloadBytes()) {
            throw Problem.tooLarge(
                "payload", size, config.limits().payloadBytes(), "roost.limits.payload-bytes");
          }
        });
    Orders.Placed placed = orders.place(id, payload.orElse(null), idempotencyKey);
    int status = placed.repeated() ? 200 : 201;
    return awaitEnd(placed.executorJobId(), wait)
        .map(
            view ->
                Response.status(status)
                    .header("Location", "/v1/executor-jobs/" + view.id())
                    .entity(view)
                    .build());
  }

  @GET
  @Path("executor-jobs")
  @Transactional
  @Operation(summary = "List ExecutorJobs, newest first")
  public Page<ExecutorJob.View> list(
      @RestQuery("agent_id") String agentId,
      @RestQuery("schedule_id") String scheduleId,
      @RestQuery String state,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    ExecutorJob.Filter filter = new ExecutorJob.Filter(agentId, scheduleId, state);
    return Page.fitting(
        ExecutorJob.idsAndBytes(filter, cursor, most),
        most,
        ids -> {
          List<ExecutorJob> rows = ExecutorJob.list("id in ?1 order by id desc", ids);
          return rows.stream().map(ExecutorJob.View::of).toList();
        });
  }

  @GET
  @Path("executor-jobs/{id}")
  @Operation(
      summary = "Retrieve an ExecutorJob",
      description = "With wait, when it has ended or the time is over.")
  @APIResponse(
      responseCode = "200",
      content = @Content(schema = @Schema(implementation = ExecutorJob.View.class)))
  public Uni<ExecutorJob.View> retrieve(
      String id,
      @Parameter(description = "Seconds, 0 to 60") @RestQuery("wait") Integer waitSeconds) {
    return awaitEnd(id, wait(waitSeconds));
  }

  @POST
  @Path("executor-jobs/{id}/cancel")
  @Needs(Role.EXECUTE)
  @Operation(
      summary = "Cancel an ExecutorJob",
      description =
          "A script that runs gets SIGTERM and 10 s later SIGKILL. Harmless when it has ended.")
  public ExecutorJob.View cancel(String id) {
    view(id);
    orders.cancel(id);
    return view(id);
  }

  private Uni<ExecutorJob.View> awaitEnd(String id, Duration wait) {
    if (wait.isZero()) {
      return Uni.createFrom().item(view(id));
    }
    return waiting.until(
        id,
        wait,
        () -> {
          ExecutorJob.View view = view(id);
          return view.finishedAt() == null ? Optional.empty() : Optional.of(view);
        },
        () -> view(id));
  }

  private static ExecutorJob.View view(String id) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                ExecutorJob.<ExecutorJob>findByIdOptional(id)
                    .map(ExecutorJob.View::of)
                    .orElseThrow(() -> Problem.notFound("ExecutorJob", id)));
  }

  private static Duration wait(Integer seconds) {
    if (seconds == null) {
      return Duration.ZERO;
    }
    if (seconds < 0 || seconds > MAX_WAIT_SECONDS) {
      throw Problem.invalid(
          "?wait", "out_of_range", "wait must be from 0 to " + MAX_WAIT_SECONDS + " seconds.");
    }
    return Duration.ofSeconds(seconds);
  }
}
