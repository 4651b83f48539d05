package dev.roost.event;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.cluster.OpenStreams;
import dev.roost.cluster.Waiting;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.RestQuery;

/** State changes, as a page or as a stream. */
@Path("/v1/events")
@Tag(name = "Events")
@Blocking
public class EventsResource {
  private static final Logger LOG = Logger.getLogger(EventsResource.class);

  /** Clients that accept any type get the page. */
  private static final String STREAM = "text/event-stream;qs=0.1";

  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);
  private static final int STEP = 500;
  private static final String TYPES =
      "Comma-separated types, for example execution.failed,builder_job.*; all by default";

  private final EventLog log;
  private final EventTail tail;
  private final OpenStreams streams;
  private final Waiting waiting;
  private final ObjectMapper mapper;

  EventsResource(
      EventLog log, EventTail tail, OpenStreams streams, Waiting waiting, ObjectMapper mapper) {
    this.log = log;
    this.tail = tail;
    this.streams = streams;
    this.waiting = waiting;
    this.mapper = mapper;
  }

  @GET
  @Produces(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "listEvents",
      summary = "State changes, oldest first",
      description =
          "Depending on Accept: a page (application/json), or a stream of server-sent events "
              + "(text/event-stream) that resumes after Last-Event-ID, or begins with new events. An "
              + "event's id is its position in the log. Ids increase, so skip events whose id is not "
              + "greater than the last one processed.")
  public Page<EventLog.Entry> list(
      @Parameter(
              description =
                  "Only events after this id. By default, or with 0, the page begins with the oldest event "
                      + "that is kept")
          @RestQuery
          Long after,
      @RestQuery Integer limit,
      @Parameter(description = TYPES) @RestQuery String types,
      @Parameter(description = "Only events of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(description = "Only events of the resource with this identifier") @RestQuery
          String subject) {
    int most = Page.limit(limit);
    long begin = log.begin(after == null ? 0 : checked("?after", after));
    EventLog.Part part = log.read(begin, most, filter(types, agentId, subject));
    boolean more = part.entries().size() == most;
    return new Page<>(part.entries(), more ? Long.toString(part.next()) : null);
  }

  @GET
  @Produces(STREAM)
  public Multi<OutboundSseEvent> follow(
      @Parameter(description = "For a stream: resume after this event. Takes precedence over after")
          @HeaderParam("Last-Event-ID")
          String lastEventId,
      @RestQuery Long after,
      @RestQuery String types,
      @RestQuery("agent_id") String agentId,
      @RestQuery String subject,
      @Context Sse sse) {
    EventLog.Filter filter = filter(types, agentId, subject);
    streams.begin(tail::leave);
    tail.join();
    AtomicLong position = new AtomicLong(start(lastEventId, after));
    // Sent at once, so that a client disconnected before the first event knows its position.
    Multi<OutboundSseEvent> here = Multi.createFrom().item(keepAlive(position.get(), sse));
    Multi<OutboundSseEvent> events =
        Multi.createBy()
            .repeating()
            .uni(() -> step(position, filter, sse))
            .until(List::isEmpty)
            .onItem()
            .transformToIterable(step -> step);
    return Multi.createBy()
        .concatenating()
        .streams(here, events)
        .onFailure()
        .invoke(e -> LOG.warnf("a stream of events was aborted: %s", e.getMessage()));
  }

  private long start(String lastEventId, Long after) {
    if (lastEventId != null && !lastEventId.isBlank()) {
      try {
        return log.begin(checked("Last-Event-ID", Long.parseLong(lastEventId.strip())));
      } catch (NumberFormatException e) {
        throw Problem.invalid(
            "Last-Event-ID", "wrong_type", "Last-Event-ID must be the id of an event, a number.");
      }
    }
    return after == null ? log.latest() : log.begin(checked("?after", after));
  }

  /** Some events, or a comment after a time without events; an empty list ends the stream. */
  private Uni<List<OutboundSseEvent>> step(AtomicLong position, EventLog.Filter filter, Sse sse) {
    return waiting
        .until(
            EventTail.TOPIC,
            KEEP_ALIVE,
            KEEP_ALIVE,
            () -> {
              EventLog.Part part = tail.read(position.get(), STEP, filter);
              position.set(part.next());
              return part.entries().isEmpty()
                  ? Optional.<List<OutboundSseEvent>>empty()
                  : Optional.of(part.entries().stream().map(entry -> event(entry, sse)).toList());
            },
            // The client resumes from its last event on another replica.
            () -> waiting.isEnding() ? List.of() : List.of(keepAlive(position.get(), sse)))
        .runSubscriptionOn(Infrastructure.getDefaultWorkerPool());
  }

  /**
   * Also sends the position, which the client can't know after starting at "now" or after filtered
   * events.
   */
  private static OutboundSseEvent keepAlive(long position, Sse sse) {
    return sse.newEventBuilder().id(Long.toString(position)).comment("still here").build();
  }

  private OutboundSseEvent event(EventLog.Entry entry, Sse sse) {
    try {
      return sse.newEventBuilder()
          .id(entry.id())
          .name(entry.type())
          .data(mapper.writeValueAsString(entry))
          .build();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static EventLog.Filter filter(String types, String agentId, String subject) {
    if (types == null || types.isBlank()) {
      return new EventLog.Filter(List.of(), agentId, subject);
    }
    List<String> patterns = Arrays.stream(types.split(",")).map(String::strip).toList();
    List<Problem.FieldError> mistakes = new ArrayList<>();
    for (String pattern : patterns) {
      EventTypes.mistake(pattern)
          .ifPresent(
              detail -> mistakes.add(new Problem.FieldError("?types", "not_a_choice", detail)));
    }
    if (!mistakes.isEmpty()) {
      throw Problem.invalid(mistakes);
    }
    return new EventLog.Filter(EventTypes.matching(patterns), agentId, subject);
  }

  private static long checked(String where, long position) {
    if (position < 0) {
      throw Problem.invalid(where, "out_of_range", "The id of an event must be 0 or more.");
    }
    return position;
  }
}
