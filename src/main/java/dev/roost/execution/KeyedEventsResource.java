package dev.roost.execution;

import dev.roost.api.BodySize;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import dev.roost.execution.JobEvents.JobEvent;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Sends events to whichever script waits for them. */
@Path("/v1/events")
@Tag(name = "Executions")
@Blocking
public class KeyedEventsResource {
  private final JobEvents events;
  private final RoostConfig config;

  KeyedEventsResource(JobEvents events, RoostConfig config) {
    this.events = events;
    this.config = config;
  }

  /** The schema of the request body for any job. */
  @Schema(name = "KeyedEventRequest")
  record OfKey(
      @Schema(
              description = "The name that scripts wait for",
              required = true,
              minLength = 1,
              maxLength = JobEvents.MOST_NAME_CHARACTERS)
          String name,
      @Schema(
              description = "What the event is about, such as the number of an order",
              required = true,
              minLength = 1,
              maxLength = JobEvents.MOST_KEY_CHARACTERS)
          String key,
      @Schema(
              ref = "JsonText",
              description =
                  "Any JSON value, which request.wait_for_event returns; null if it is missing")
          JsonText data) {}

  @POST
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "sendEvent",
      summary = "Send an event to the script that waits for its name and key",
      description =
          "Of all jobs, the wait that began first receives it. If none waits now, the event is stored for the "
              + "next one that does.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = OfKey.class),
              examples =
                  @ExampleObject(
                      name = "a payment",
                      value =
                          "{\"name\": \"paid\", \"key\": \"order-17\", \"data\": {\"amount\": 20}}")))
  @APIResponse(
      responseCode = "201",
      description = "The event was sent; received_at says whether a wait has received it",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = JobEvent.class)))
  @APIResponse(
      responseCode = "200",
      description = "The event that an earlier request with this Idempotency-Key has sent",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = JobEvent.class)))
  public Response sendByKey(
      @Parameter(description = JobEventsResource.RETRIES) @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      byte[] bytes) {
    return JobEventRequest.send(events, config, null, idempotencyKey, bytes);
  }
}
