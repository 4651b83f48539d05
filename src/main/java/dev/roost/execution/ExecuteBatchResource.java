package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import dev.roost.event.EventLog;
import dev.roost.trace.Traces;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Submits many executions of an agent at once. */
@Path("/v1/agents/{id}/execute-batch")
@Tag(name = "Executions")
@Blocking
public class ExecuteBatchResource {
  private static final int MOST = 1_000;

  private final JobBatches jobs;
  private final EventLog events;
  private final RoostConfig config;
  private final Traces traces;

  ExecuteBatchResource(JobBatches jobs, EventLog events, RoostConfig config, Traces traces) {
    this.jobs = jobs;
    this.events = events;
    this.config = config;
    this.traces = traces;
  }

  /** The schema of the body of a batch. */
  @Schema(name = "ExecuteBatchRequest")
  record ExecuteBatchRequest(
      @Schema(description = "1 to 1000 JSON values, one for each execution", required = true)
          List<JsonText> payloads,
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
                  "What each of the jobs reads as request.files: ids of files by name, at most 100.",
              examples = "{\"report\": \"file_01m8ftmpefe00a4fg3w0xwawts\"}")
          Map<String, String> files) {}

  /** The submitted batch. */
  @Schema(name = "Batch")
  public record View(
      @Schema(description = "The batch_id of the jobs, to list and cancel them together")
          String batchId,
      @Schema(description = "The jobs, in the order of the payloads") List<String> executorJobIds,
      @Schema(
              description =
                  "The id of an event before all events of these jobs. Send it as after to GET /v1/events "
                      + "to miss none of these events")
          String lastEventId) {}

  @POST
  @Takes(BodySize.BATCH)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "executeAgentBatch",
      summary = "Execute an agent with many payloads",
      description =
          "Creates an ExecutorJob for each payload, all of them or none. GET /v1/executor-jobs?batch_id= lists them.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = ExecuteBatchRequest.class),
              examples =
                  @ExampleObject(
                      name = "greet two",
                      value = "{\"payloads\": [{\"name\": \"Ada\"}, {\"name\": \"Grace\"}]}")))
  @APIResponse(
      responseCode = "201",
      description = "The jobs were created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = View.class)))
  @APIResponse(
      responseCode = "200",
      description = "The jobs that an earlier request with this Idempotency-Key created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = View.class)))
  public Response execute(
      String id,
      @Parameter(
              description =
                  "Makes retries safe for 24 hours: a repeated request returns the same jobs")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      @Parameter(hidden = true) @HeaderParam("traceparent") String traceParent,
      byte[] bytes) {
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    body.require("payloads");
    Body.Elements payloads = body.list("payloads").orElse(null);
    if (payloads != null && (payloads.count() == 0 || payloads.count() > MOST)) {
      body.reject(
          "payloads",
          "out_of_range",
          "payloads must have 1 to %d values; it has %d.".formatted(MOST, payloads.count()));
    }
    Options options = Options.read(body);
    body.check();
    for (int i = 0; i < payloads.count(); i++) {
      ExecuteResource.checkSize("payloads/" + i, payloads.sizeBytes().get(i), config);
    }
    long latest = events.latest();
    String trace = traces.parent(traceParent);
    JobBatches.Submitted submitted = jobs.submit(id, payloads, options, idempotencyKey, trace);
    long lastEvent = submitted.repeated() ? events.before(submitted.createdAt()) : latest;
    return Response.status(submitted.repeated() ? 200 : 201)
        .entity(new View(submitted.batchId(), submitted.ids(), Long.toString(lastEvent)))
        .build();
  }
}
