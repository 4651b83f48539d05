package dev.roost.execution;

import dev.roost.agent.AgentRequest;
import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
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
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Submits an execution of an unsaved script. */
@Path("/v1/agents/{id}/execute-draft")
@Tag(name = "Executions")
@Blocking
public class ExecuteDraftResource {
  private final JobSubmission submission;
  private final RoostConfig config;
  private final Traces traces;

  ExecuteDraftResource(JobSubmission submission, RoostConfig config, Traces traces) {
    this.submission = submission;
    this.config = config;
    this.traces = traces;
  }

  /** The schema of the request body. */
  @Schema(name = "ExecuteDraftRequest")
  record ExecuteDraftRequest(
      @Schema(
              description = "Python that defines main(), main(request) or main(request, store).",
              required = true)
          String script,
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
          String concurrencyKey) {}

  @POST
  @Takes(BodySize.DRAFT)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.WRITE)
  @Operation(
      operationId = "executeAgentDraft",
      summary = "Execute an unsaved script of an agent",
      description =
          "Creates an ExecutorJob that runs a draft: this script instead of that of the agent's running "
              + "revision, with everything else of the revision, such as its packages and environment "
              + "variables. Nothing is built and no revision is created. Drafts count neither in the "
              + "agent's figures nor in issues. Requires the role write. With wait, the response is "
              + "delayed until the job has ended, or until wait seconds have passed.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = ExecuteDraftRequest.class),
              examples =
                  @ExampleObject(
                      name = "greet Ada in capitals",
                      value =
                          """
                          {"script": "def main(request):\\n    return request.payload['name'].upper()\\n",
                           "payload": {"name": "Ada"}}""")))
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
    body.require("script");
    String script = body.string("script").orElse(null);
    Options options = Options.read(body).withDraft(script);
    body.check();
    AgentRequest.checkScript(script, config.limits());
    ExecuteResource.checkSize("payload", sizeBytes, config);
    JsonText payload = body.json("payload").orElse(null);
    String trace = traces.parent(traceParent);
    Uni<Response> answer = submission.answer(id, payload, options, idempotencyKey, trace, wait);
    ReceivedBody.release(context);
    return answer;
  }
}
