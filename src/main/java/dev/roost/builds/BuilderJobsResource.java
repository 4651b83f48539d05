package dev.roost.builds;

import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import dev.roost.cluster.Waiting;
import dev.roost.log.LogAnswers;
import dev.roost.log.LogEntry;
import dev.roost.log.LogRepository;
import dev.roost.state.BuilderJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** BuilderJobs: created by Roost, read by clients. */
@Path("/v1/builder-jobs")
@Tag(name = "Builds")
@Blocking
public class BuilderJobsResource {
  private final LogAnswers logs;
  private final Waiting waiting;

  BuilderJobsResource(LogAnswers logs, Waiting waiting) {
    this.logs = logs;
    this.waiting = waiting;
  }

  @GET
  @Transactional
  @Operation(operationId = "listBuilderJobs", summary = "List BuilderJobs, newest first")
  public Page<BuilderJob.View> list(
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(description = "One or several, separated by commas") @RestQuery String state,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    List<BuilderJobState> states = QueryParameters.choices("state", state, BuilderJobState.class);
    return BuilderJob.page(agentId, states, Cursor.id("bjob", cursor), Page.limit(limit));
  }

  @GET
  @Path("{id}")
  @Operation(
      operationId = "getBuilderJob",
      summary = "Retrieve a BuilderJob",
      description =
          "With wait, the response is delayed until it has ended, or until wait seconds have "
              + "passed.")
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = BuilderJob.View.class)))
  public Uni<BuilderJob.View> retrieve(
      String id,
      @Parameter(description = "Seconds, 0 to 60") @RestQuery("wait") Integer waitSeconds) {
    return waiting.until(
        id,
        Waiting.parameter(waitSeconds),
        () -> Optional.of(view(id)).filter(view -> view.finishedAt() != null),
        () -> view(id));
  }

  @GET
  @Path("{id}/logs")
  @Produces(MediaType.APPLICATION_JSON)
  @Transactional
  @Operation(
      operationId = "getBuilderJobLogs",
      summary =
          "Read a build's log: depending on Accept, a page, plain text, or a live stream of "
              + "server-sent events")
  public Page<LogEntry> logs(
      String id,
      @Parameter(
              description = "The maximum number of entries, 1 to 1000",
              schema =
                  @Schema(
                      type = SchemaType.INTEGER,
                      minimum = "1",
                      maximum = "1000",
                      defaultValue = "200"))
          @RestQuery
          Integer limit,
      @Parameter(
              description = "Only entries after the entry with this seq. cursor takes precedence")
          @RestQuery("after_seq")
          Integer afterSeq,
      @RestQuery String cursor,
      @Parameter(description = "Only entries whose message contains this text; case-sensitive")
          @RestQuery
          String contains) {
    find(id);
    return logs.page(id, limit, afterSeq, cursor, new LogRepository.Filter(null, contains));
  }

  @GET
  @Path("{id}/logs")
  @Produces(LogAnswers.TEXT)
  public Multi<String> text(String id) {
    check(id);
    return logs.text(id);
  }

  @GET
  @Path("{id}/logs")
  @Produces(LogAnswers.EVENTS)
  public Multi<OutboundSseEvent> follow(
      String id,
      @Parameter(
              description =
                  "For a stream: resume after the entry with this seq. Without it, the stream begins with "
                      + "the first entry")
          @HeaderParam("Last-Event-ID")
          String lastEventId,
      @Context Sse sse) {
    check(id);
    return logs.events(
        id,
        lastEventId,
        sse,
        () ->
            QuarkusTransaction.requiringNew()
                .call(
                    () ->
                        Optional.of(find(id))
                            .filter(BuilderJob::hasEnded)
                            .map(BuilderJob.View::of)));
  }

  private static BuilderJob.View view(String id) {
    return QuarkusTransaction.requiringNew().call(() -> BuilderJob.View.of(find(id)));
  }

  private static void check(String id) {
    QuarkusTransaction.requiringNew().run(() -> find(id));
  }

  private static BuilderJob find(String id) {
    return BuilderJob.<BuilderJob>findByIdOptional(id)
        .orElseThrow(() -> Problem.notFound("BuilderJob", id));
  }
}
