package dev.roost.schedule;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.Cursor;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.NameSearch;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.cluster.Waiting;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.ExecutorJobAnswers;
import dev.roost.execution.ExecutorJobs;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.time.Duration;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Schedules: create, list, retrieve, change, delete, run now, preview. */
@Path("/v1/schedules")
@Tag(name = "Schedules")
@Blocking
public class ScheduleResource {
  private final Schedules schedules;
  private final ExecutorJobAnswers answers;
  private final RoostConfig config;

  ScheduleResource(Schedules schedules, ExecutorJobAnswers answers, RoostConfig config) {
    this.schedules = schedules;
    this.answers = answers;
    this.config = config;
  }

  @POST
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(operationId = "createSchedule", summary = "Create a schedule")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = ScheduleFields.class),
              examples =
                  @ExampleObject(
                      name = "on working days",
                      value =
                          """
                          {"agent_id": "agent_01jd4m8z6hf0r9w2x3c5v7b8na", "cron": "30 2 * * 1-5", "time_zone": "Europe/Berlin",
                           "payload": {"report": "sales"}, "overlap": "skip"}""")))
  @APIResponse(
      responseCode = "201",
      description = "The schedule",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ScheduleView.class)))
  @APIResponse(responseCode = "404", ref = "not_found")
  @APIResponse(responseCode = "409", ref = "conflict")
  public Response create(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("agent_id");
    body.require("cron");
    String id = schedules.create(read(body));
    return Response.created(URI.create("/v1/schedules/" + id)).entity(view(id)).build();
  }

  @GET
  @Transactional
  @Operation(operationId = "listSchedules", summary = "List schedules, newest first")
  public Page<ScheduleView> list(
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(description = "Only those in this state: active or paused") @RestQuery
          String state,
      @Parameter(description = "Only those with exactly this name") @RestQuery String name,
      @Parameter(description = NameSearch.DESCRIPTION) @RestQuery String q,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    return Page.fitting(
        Schedule.sizes(
            new Schedule.Filter(agentId, state, name, NameSearch.words("q", q)),
            Cursor.id("sched", cursor),
            most),
        most,
        ids -> ScheduleView.of(Schedule.list("id in ?1 order by id desc", ids)));
  }

  @GET
  @Path("{id}")
  @Operation(operationId = "getSchedule", summary = "Retrieve a schedule")
  public ScheduleView retrieve(String id) {
    return view(id);
  }

  @PATCH
  @Takes(BodySize.PAYLOAD)
  @Path("{id}")
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "updateSchedule",
      summary = "Update, pause or resume a schedule",
      description =
          "Fields that are left out keep their values. A change of cron, time_zone, starts_at, "
              + "ends_at or state applies from now: runs that were missed before are skipped.")
  @RequestBody(
      required = false,
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ScheduleFields.class)))
  @APIResponseSchema(value = ScheduleView.class, responseCode = "200")
  @APIResponse(responseCode = "409", ref = "conflict")
  public ScheduleView update(String id, byte[] bytes) {
    schedules.update(id, read(Body.parse(bytes)));
    return view(id);
  }

  @DELETE
  @Path("{id}")
  @Operation(
      operationId = "deleteSchedule",
      summary = "Delete a schedule",
      description = "Its ExecutorJobs are kept, and run.")
  public void delete(String id) {
    schedules.delete(id);
  }

  @POST
  @Path("{id}/trigger")
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "triggerSchedule",
      summary = "Run a schedule's agent now",
      description =
          "Creates an ExecutorJob with the schedule's payload, even if the schedule is paused or "
              + "another run has not ended; with overlap \"queue\", the job waits for earlier runs. With "
              + "wait, the response is delayed until the job has ended, or until wait seconds have "
              + "passed.")
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
  public Uni<Response> trigger(
      String id,
      @Parameter(description = "Seconds, 0 to 60") @RestQuery("wait") Integer waitSeconds,
      @Parameter(
              description =
                  "1 to 255 characters. Makes retries safe for 24 hours: the same key returns the same "
                      + "ExecutorJob")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey) {
    Duration wait = Waiting.parameter(waitSeconds);
    IdempotencyKey.check(idempotencyKey);
    ExecutorJobs.Submitted submitted = schedules.trigger(id, idempotencyKey);
    return answers.whenEnded(submitted.executorJobId(), wait).map(submitted::answer);
  }

  @GET
  @Path("{id}/next")
  @Operation(
      operationId = "getNextRuns",
      summary = "List the next times of a schedule",
      description = "Empty while the schedule is paused.")
  public Upcoming next(
      String id,
      @Parameter(description = "The number of times, 1 to 100; 5 by default") @RestQuery
          Integer count) {
    int most = Upcoming.count(count);
    return Upcoming.of(QuarkusTransaction.requiringNew().call(() -> Schedule.require(id)), most);
  }

  @POST
  @Path("preview")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.READ)
  @Operation(
      operationId = "previewSchedule",
      summary = "Explain a cron expression",
      description = "Returns a description and the next times.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = Upcoming.Request.class),
              examples =
                  @ExampleObject(
                      name = "on working days",
                      value = "{\"cron\": \"30 2 * * 1-5\", \"time_zone\": \"Europe/Berlin\"}")))
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = Upcoming.class)))
  public Upcoming preview(byte[] bytes) {
    return Upcoming.preview(Body.parse(bytes));
  }

  private ScheduleRequest read(Body body) {
    ScheduleRequest request = ScheduleRequest.read(body, config.limits().payloadBytes());
    body.check();
    return request;
  }

  private static ScheduleView view(String id) {
    return QuarkusTransaction.requiringNew().call(() -> ScheduleView.of(Schedule.require(id)));
  }
}
