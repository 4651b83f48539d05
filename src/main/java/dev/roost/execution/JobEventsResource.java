package dev.roost.execution;

import dev.roost.api.BodySize;
import dev.roost.api.Cursor;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import dev.roost.db.Sql;
import dev.roost.execution.JobEvents.JobEvent;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** The events of a job. */
@Path("/v1/executor-jobs/{id}/events")
@Tag(name = "Executions")
@Blocking
public class JobEventsResource {
  static final String RETRIES =
      "Makes retries safe: a repeated request returns the event that the first one has sent";

  private static final Sql SIZES =
      Sql.of(
          """
          select id, octet_length(data) as bytes from job_event
          where executor_job_id = :job and id > :after order by id limit :most""");

  private static final Sql ROWS =
      Sql.of("select * from job_event where id = any(:ids) order by id");

  private final JobEvents events;
  private final RoostConfig config;
  private final EntityManager entities;

  JobEventsResource(JobEvents events, RoostConfig config, EntityManager entities) {
    this.events = events;
    this.config = config;
    this.entities = entities;
  }

  /** The schema of the request body for one job. */
  @Schema(name = "JobEventRequest")
  record OfJob(
      @Schema(
              description = "The name that the script waits for",
              required = true,
              minLength = 1,
              maxLength = JobEvents.MOST_NAME_CHARACTERS)
          String name,
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
      operationId = "sendExecutorJobEvent",
      summary = "Send an event to the script of an ExecutorJob",
      description =
          "The first wait for that name receives it, whether it has a key or not. If none waits now, the "
              + "event is stored for the next one that does.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = OfJob.class),
              examples =
                  @ExampleObject(
                      name = "a payment",
                      value = "{\"name\": \"paid\", \"data\": {\"amount\": 20}}")))
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
  public Response sendToJob(
      String id,
      @Parameter(description = RETRIES) @HeaderParam("Idempotency-Key") String idempotencyKey,
      byte[] bytes) {
    return JobEventRequest.send(events, config, id, idempotencyKey, bytes);
  }

  @GET
  @Transactional
  @Operation(
      operationId = "listExecutorJobEvents",
      summary = "List the events of an ExecutorJob",
      description =
          "Those that were sent to it, and those with a key that its script has received, in the order in which "
              + "they were sent.")
  public Page<JobEvent> list(String id, @RestQuery String cursor, @RestQuery Integer limit) {
    int most = Page.limit(limit);
    String after = Cursor.id("jevent", cursor);
    if (ExecutorJob.findByIdOptional(id).isEmpty()) {
      throw Problem.notFound("ExecutorJob", id);
    }
    List<Page.Sized> sizes =
        SIZES
            .with("job", id)
            .with("after", after == null ? "" : after)
            .with("most", most + 1)
            .list(entities, Page.Sized::of);
    return Page.fitting(
        sizes,
        most,
        ids -> ROWS.with("ids", ids.toArray(String[]::new)).list(entities, JobEvent::read));
  }
}
