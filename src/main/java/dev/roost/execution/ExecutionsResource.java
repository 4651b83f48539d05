package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentTags;
import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import dev.roost.api.Sort;
import dev.roost.log.LogAnswers;
import dev.roost.log.LogEntry;
import dev.roost.log.LogRepository;
import dev.roost.state.ExecutionState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Executions and their logs: created by Roost, read-only for clients. */
@Path("/v1/executions")
@Tag(name = "Executions")
@Blocking
public class ExecutionsResource {
  private final LogAnswers logs;
  private final LargeValues values;

  ExecutionsResource(LogAnswers logs, LargeValues values) {
    this.logs = logs;
    this.values = values;
  }

  /** The filters of the list and of its count. */
  static class Filters {
    @Parameter(description = "Only those of this agent")
    @RestQuery("agent_id")
    String agentId;

    @Parameter(
        description =
            "Only those of the agent with this name or, if there is none, of the agents that q of "
                + "GET /v1/agents finds, including deleted agents")
    @RestQuery
    String agent;

    @Parameter(description = AgentTags.DESCRIPTION)
    @RestQuery
    String tag;

    @Parameter(description = "Only those of this revision of their agent")
    @RestQuery("agent_revision")
    Integer agentRevision;

    @Parameter(description = "Only the attempts at this job")
    @RestQuery("executor_job_id")
    String executorJobId;

    @Parameter(description = "Only runs of this schedule, including triggered runs")
    @RestQuery("schedule_id")
    String scheduleId;

    @Parameter(description = "Only the failures of this issue")
    @RestQuery("issue_id")
    String issueId;

    @Parameter(description = "One or several, separated by commas")
    @RestQuery
    String state;

    @Parameter(description = "Only those with this reason")
    @RestQuery
    String reason;

    @Parameter(
        description = "true: only those of drafts; false: only those of revisions",
        schema = @Schema(type = SchemaType.BOOLEAN))
    @RestQuery
    String draft;

    @Parameter(
        description = "Only those that started at this time or later",
        schema = @Schema(implementation = Instant.class))
    @RestQuery("started_after")
    String startedAfter;

    @Parameter(
        description = "Only those that started before this time",
        schema = @Schema(implementation = Instant.class))
    @RestQuery("started_before")
    String startedBefore;

    Execution.Filter read() {
      return new Execution.Filter(
          agentId,
          Agent.meant("agent", agent, tag),
          agentRevision,
          executorJobId,
          scheduleId,
          issueId,
          QueryParameters.choices("state", state, ExecutionState.class),
          ExecutionReason.parameter(reason),
          QueryParameters.flag("draft", draft),
          QueryParameters.time("started_after", startedAfter),
          QueryParameters.time("started_before", startedBefore));
    }
  }

  @GET
  @Operation(
      operationId = "listExecutions",
      summary = "List Executions, newest first",
      description =
          "With sort=duration or -duration, the list has the newest 10000 Executions of the filter that "
              + "have ended.")
  public Page<Execution.View> list(
      @BeanParam Filters filters,
      @Parameter(description = "\"submission\" adds how each job was submitted") @RestQuery
          String include,
      @Parameter(
              description =
                  "started or duration; with a minus before it, descending. Default: -started")
          @RestQuery
          String sort,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    Sort<Execution.Key> order = Sort.of(sort, Execution.Key.STARTED);
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                order.key() == Execution.Key.DURATION
                    ? byDuration(filters.read(), order, cursor, most, include)
                    : byStart(filters.read(), order, cursor, most, include))
        .map(values::whole);
  }

  private static Page<Execution.View> byStart(
      Execution.Filter filter, Sort<Execution.Key> order, String cursor, int most, String include) {
    return Page.fitting(
        Execution.sizes(filter, order.descending(), Cursor.id("exec", cursor), most),
        most,
        ids -> views(ids, include));
  }

  private static Page<Execution.View> byDuration(
      Execution.Filter filter, Sort<Execution.Key> order, String cursor, int most, String include) {
    List<Execution.Timed> rows =
        Execution.byDuration(filter, order, order.position("execs", cursor), most);
    Page<Execution.View> page =
        Page.fitting(
            rows.stream().map(Execution.Timed::sized).toList(), most, ids -> views(ids, include));
    return new Page<>(
        page.data(),
        rows.stream()
            .filter(row -> row.sized().id().equals(page.nextCursor()))
            .map(row -> new Sort.Position(Long.toString(row.micros()), row.sized().id()))
            .map(position -> order.cursor("execs", position))
            .findFirst()
            .orElse(null));
  }

  /** The views of these Executions in the same order. */
  private static List<Execution.View> views(List<String> ids, String include) {
    Map<String, Execution> rows =
        Execution.<Execution>list("id in ?1", ids).stream()
            .collect(Collectors.toMap(row -> row.id, row -> row));
    Map<String, Submission> submissions = Submission.of(Execution.getEntityManager(), ids, include);
    return ids.stream()
        .filter(rows::containsKey)
        .map(id -> Execution.View.of(rows.get(id), submissions.get(id)))
        .toList();
  }

  @GET
  @Path("count")
  @Transactional
  @Operation(
      operationId = "countExecutions",
      summary = "Count Executions",
      description = "Counts the Executions that the list has with the same filters, up to 10000.")
  public Count count(@BeanParam Filters filters) {
    return Execution.count(filters.read());
  }

  @GET
  @Path("{id}")
  @Operation(operationId = "getExecution", summary = "Retrieve an Execution")
  public Execution.View retrieve(String id) {
    return values.whole(QuarkusTransaction.requiringNew().call(() -> Execution.View.of(find(id))));
  }

  @GET
  @Path("{id}/logs")
  @Produces(MediaType.APPLICATION_JSON)
  @Transactional
  @Operation(
      operationId = "getExecutionLogs",
      summary = "Read an Execution's log",
      description =
          "Depending on Accept: a page of entries (application/json), plain text (text/plain), or a "
              + "live stream of server-sent events (text/event-stream), which Last-Event-ID resumes.")
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
      @Parameter(
              description =
                  "Only entries with exactly this level of Python's logging, for example ERROR")
          @RestQuery
          String level,
      @Parameter(description = "Only entries whose message contains this text; case-sensitive")
          @RestQuery
          String contains) {
    find(id);
    return logs.page(id, limit, afterSeq, cursor, new LogRepository.Filter(level, contains));
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
      @Parameter(description = "For a stream: resume after the entry with this seq")
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
                    () -> Optional.of(find(id)).filter(Execution::hasEnded).map(Execution.View::of))
                .map(values::whole));
  }

  private static void check(String id) {
    QuarkusTransaction.requiringNew().run(() -> find(id));
  }

  private static Execution find(String id) {
    return Execution.<Execution>findByIdOptional(id)
        .orElseThrow(() -> Problem.notFound("Execution", id));
  }
}
