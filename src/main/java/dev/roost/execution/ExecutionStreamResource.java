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

/** The values that the attempt of an execution has emitted. */
@Path("/v1/executions/{id}/stream")
@Tag(name = "Executions")
@Blocking
public class ExecutionStreamResource {
  private final StreamAnswers answers;

  ExecutionStreamResource(StreamAnswers answers) {
    this.answers = answers;
  }

  @GET
  @Produces(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "streamExecution",
      summary = "Read or follow the values that an Execution emits",
      description =
          "As the stream of its ExecutorJob, for the attempt that the Execution belongs to, until the Execution has "
              + "ended. An attempt whose script is suspended has several Executions; follow the job to get the values "
              + "of all.")
  public Page<StreamAnswers.View> page(
      String id, @RestQuery String cursor, @RestQuery Integer limit) {
    return answers.page(StreamAnswers.Of.EXECUTION, id, limit, cursor);
  }

  @GET
  @Produces(StreamAnswers.EVENTS)
  public Multi<OutboundSseEvent> events(
      String id,
      @Parameter(description = JobStreamResource.AFTER) @RestQuery String after,
      @Parameter(description = JobStreamResource.AFTER) @HeaderParam("Last-Event-ID")
          String lastEventId,
      @Context Sse sse) {
    return answers.events(
        StreamAnswers.Of.EXECUTION, id, lastEventId == null ? after : lastEventId, sse);
  }

  @GET
  @Produces(StreamAnswers.LINES)
  public Multi<byte[]> lines(
      String id, @Parameter(description = JobStreamResource.AFTER) @RestQuery String after) {
    return answers.lines(StreamAnswers.Of.EXECUTION, id, after);
  }
}
