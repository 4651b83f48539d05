package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Problem;
import dev.roost.api.ReceivedBody;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.cluster.Waiting;
import dev.roost.config.RoostConfig;
import dev.roost.trace.Traces;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Submits an execution of an agent. */
@Path("/v1/agents/{id}/execute")
@Tag(name = "Executions")
@Blocking
public class ExecuteResource {
  private final JobSubmission submission;
  private final RoostConfig config;
  private final Traces traces;

  ExecuteResource(JobSubmission submission, RoostConfig config, Traces traces) {
    this.submission = submission;
    this.config = config;
    this.traces = traces;
  }

  /** The schema of the request body. */
  @Schema(name = "ExecuteRequest")
  record ExecuteRequest(
      @Schema(
              ref = "JsonText",
              description = "Any JSON value; without it, request.payload is None.")
          JsonText payload,
      @Schema(
              description = "The priority. Jobs of the agent with a higher priority run first.",
              defaultValue = "0",
              minimum = "-100",
              maximum = "100")
          int priority,
      @Schema(
              description =
                  "The concurrency key. Of the agent's jobs with the same key, one runs at a time.")
          String concurrencyKey,
      @Schema(
              description =
                  "What the script reads as request.files: ids of files by name, at most 100.",
              examples = "{\"report\": \"file_01m8ftmpefe00a4fg3w0xwawts\"}")
          Map<String, String> files) {}

  @POST
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "executeAgent",
      summary = "Execute an agent",
      description =
          "Creates an ExecutorJob. With wait, the response is delayed until the job has ended, or "
              + "until wait seconds have passed.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = ExecuteRequest.class),
              examples =
                  @ExampleObject(name = "greet Ada", value = "{\"payload\": {\"name\": \"Ada\"}}")))
  @APIResponse(
      responseCode = "201",
      description = "The job was created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ExecutorJob.View.class)))
  @APIResponse(
      responseCode = "200",
      description = "The job that an earlier request with this Idempotency-Key created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ExecutorJob.View.class)))
  public Uni<Response> execute(
      String id,
      @Parameter(description = "Seconds, 0 to 60") @RestQuery("wait") Integer waitSeconds,
      @Parameter(
              description =
                  "Makes retries safe for 24 hours: a repeated request returns the same job")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      @Parameter(hidden = true) @HeaderParam("traceparent") String traceParent,
      @Parameter(hidden = true) @Context RoutingContext context,
      byte[] bytes) {
    Duration wait = Waiting.parameter(waitSeconds);
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    int sizeBytes = body.sizeBytes("payload");
    Options options = Options.read(body);
    body.check();
    checkSize("payload", sizeBytes, config);
    JsonText payload = body.json("payload").orElse(null);
    String trace = traces.parent(traceParent);
    Uni<Response> answer = submission.answer(id, payload, options, idempotencyKey, trace, wait);
    ReceivedBody.release(context);
    return answer;
  }

  /**
   * @throws Problem too_large
   */
  public static void checkSize(String name, int sizeBytes, RoostConfig config) {
    if (sizeBytes > config.limits().payloadBytes()) {
      throw Problem.tooLarge(
          name, sizeBytes, config.limits().payloadBytes(), "roost.limits.payload-bytes");
    }
  }
}
