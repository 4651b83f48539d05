package dev.roost.execution;

import dev.roost.api.Page;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** The values that the latest attempt of a job has emitted. */
@Path("/v1/executor-jobs/{id}/stream")
@Tag(name = "Executions")
@Blocking
public class JobStreamResource {
  static final String AFTER = "Only values after the one with this id";

  private final StreamAnswers answers;

  JobStreamResource(StreamAnswers answers) {
    this.answers = answers;
  }

  @GET
  @Produces(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "streamExecutorJob",
      summary = "Read or follow the values that an ExecutorJob emits",
      description =
          "Depending on Accept: a page of the values of the latest attempt (application/json), or a live stream "
              + "of server-sent events (text/event-stream) or lines (application/x-ndjson). A stream has value, with "
              + "an id that Last-Event-ID or after resumes from, on any replica; progress; restart, when the job "
              + "is retried and its values begin again; and end with the ExecutorJob, after all values.")
  public Page<StreamAnswers.View> page(
      String id, @RestQuery String cursor, @RestQuery Integer limit) {
    return answers.page(StreamAnswers.Of.JOB, id, limit, cursor);
  }

  @GET
  @Produces(StreamAnswers.EVENTS)
  public Multi<OutboundSseEvent> events(
      String id,
      @Parameter(description = AFTER) @RestQuery String after,
      @Parameter(description = AFTER) @HeaderParam("Last-Event-ID") String lastEventId,
      @Context Sse sse) {
    return answers.events(StreamAnswers.Of.JOB, id, lastEventId == null ? after : lastEventId, sse);
  }

  @GET
  @Produces(StreamAnswers.LINES)
  public Multi<byte[]> lines(String id, @Parameter(description = AFTER) @RestQuery String after) {
    return answers.lines(StreamAnswers.Of.JOB, id, after);
  }
}
