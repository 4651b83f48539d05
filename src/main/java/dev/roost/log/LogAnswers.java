package dev.roost.log;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.cluster.OpenStreams;
import dev.roost.cluster.Waiting;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/** The three response formats of a log: a page, plain text, and a live stream. */
@ApplicationScoped
public class LogAnswers {
  private static final String CURSOR = "log";
  private static final Logger LOG = Logger.getLogger(LogAnswers.class);

  /** Lower quality than JSON, so clients that accept any type get the page. */
  public static final String TEXT = "text/plain;qs=0.5";

  public static final String EVENTS = "text/event-stream;qs=0.1";

  /**
   * How long a stream stays silent before it sends a comment, so that no proxy closes the idle
   * connection.
   */
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);

  private static final int STEP = 500;

  /** Hundreds of slow readers may each hold one step in memory. */
  private static final int STEP_BYTES = 256 << 10;

  /** The polling interval of a stream, because a signal may be lost. */
  private static final Duration LOOK = Duration.ofSeconds(5);

  private final LogRepository log;
  private final Waiting waiting;
  private final OpenStreams streams;
  private final ObjectMapper mapper;

  LogAnswers(LogRepository log, Waiting waiting, OpenStreams streams, ObjectMapper mapper) {
    this.log = log;
    this.waiting = waiting;
    this.streams = streams;
    this.mapper = mapper;
  }

  /**
   * @param afterSeq or null: from the start; a cursor takes precedence
   */
  public Page<LogEntry> page(
      String ownerId, Integer limit, Integer afterSeq, String cursor, LogRepository.Filter filter) {
    int most = limit == null ? 200 : limit;
    if (most < 1 || most > 1_000) {
      throw Problem.invalid("?limit", "out_of_range", "limit must be from 1 to 1000.");
    }
    int after = cursor == null ? (afterSeq == null ? 0 : afterSeq) : after(cursor);
    List<LogEntry> entries = read(ownerId, after, most + 1, filter);
    boolean whole = entries.size() <= most;
    List<LogEntry> shown = whole ? entries : entries.subList(0, most);
    if (shown.isEmpty()) {
      return new Page<>(shown, null);
    }
    int last = shown.get(shown.size() - 1).seq();
    boolean more = !whole || !read(ownerId, last, 1, filter).isEmpty();
    return new Page<>(shown, more ? Cursor.of(CURSOR, last) : null);
  }

  /**
   * The messages, one per line; split lines are joined.
   *
   * @throws Problem rate_limited
   */
  public Multi<String> text(String ownerId) {
    streams.begin();
    return Multi.createBy()
        .repeating()
        .uni(
            AtomicInteger::new,
            position ->
                onWorker(() -> step(ownerId, position.get()))
                    .invoke(entries -> advance(position, entries)))
        .whilst(entries -> !entries.isEmpty())
        .map(LogAnswers::lines)
        .filter(text -> !text.isEmpty())
        .onFailure()
        .invoke(e -> LOG.warnf(e, "the log of %s was aborted", ownerId));
  }

  /**
   * The log as server-sent events: {@code log} with the entry's {@code seq} as the event's id, and
   * {@code end} with the resource when it has ended and its log is complete.
   *
   * @param lastEventId the header, or null
   * @param ended the resource's view once it has ended; runs on a worker thread
   * @throws Problem rate_limited
   */
  public Multi<OutboundSseEvent> events(
      String ownerId, String lastEventId, Sse sse, Supplier<Optional<Object>> ended) {
    boolean fromStart = lastEventId == null || lastEventId.isBlank();
    int start = fromStart ? 0 : sequence("Last-Event-ID", lastEventId);
    streams.begin();
    return Multi.createBy()
        .repeating()
        .uni(() -> new AtomicInteger(start), position -> step(ownerId, position, sse, ended))
        .until(Step::isAfterEnd)
        .onItem()
        .transformToIterable(Step::events)
        .onFailure()
        .invoke(e -> LOG.warnf(e, "the log of %s was aborted", ownerId));
  }

  /** Some events of a stream; an empty list ends the stream. */
  private record Step(List<OutboundSseEvent> events) {
    boolean isAfterEnd() {
      return events.isEmpty();
    }
  }

  private static final int AFTER_END = -1;

  private Uni<Step> step(
      String ownerId, AtomicInteger position, Sse sse, Supplier<Optional<Object>> ended) {
    if (position.get() == AFTER_END) {
      return Uni.createFrom().item(new Step(List.of()));
    }
    return waiting
        .until(
            ownerId,
            KEEP_ALIVE,
            LOOK,
            () -> {
              // The end is read first, so that all entries are present afterwards.
              Optional<Object> end = ended.get();
              List<LogEntry> entries = step(ownerId, position.get());
              if (entries.isEmpty() && end.isEmpty()) {
                return Optional.empty();
              }
              List<OutboundSseEvent> events = new ArrayList<>(entries.size());
              for (LogEntry entry : entries) {
                events.add(
                    sse.newEventBuilder()
                        .id(Integer.toString(entry.seq()))
                        .name("log")
                        .data(json(entry))
                        .build());
              }
              advance(position, entries);
              if (entries.isEmpty()) {
                events.add(sse.newEventBuilder().name("end").data(json(end.get())).build());
                position.set(AFTER_END);
              }
              return Optional.of(new Step(events));
            },
            // The client resumes from its last event on another replica.
            () ->
                new Step(
                    waiting.isEnding()
                        ? List.of()
                        : List.of(sse.newEventBuilder().comment("still here").build())))
        .runSubscriptionOn(Infrastructure.getDefaultWorkerPool());
  }

  private <T> Uni<T> onWorker(Supplier<T> work) {
    return Uni.createFrom().item(work).runSubscriptionOn(Infrastructure.getDefaultWorkerPool());
  }

  private List<LogEntry> read(String ownerId, int after, int limit, LogRepository.Filter filter) {
    return QuarkusTransaction.joiningExisting().call(() -> log.read(ownerId, after, limit, filter));
  }

  private List<LogEntry> step(String ownerId, int after) {
    return QuarkusTransaction.joiningExisting()
        .call(() -> log.read(ownerId, after, STEP, STEP_BYTES, LogRepository.Filter.NONE));
  }

  private static void advance(AtomicInteger position, List<LogEntry> entries) {
    if (!entries.isEmpty()) {
      position.set(entries.get(entries.size() - 1).seq());
    }
  }

  private static String lines(List<LogEntry> entries) {
    StringBuilder text = new StringBuilder();
    for (LogEntry entry : entries) {
      text.append(entry.message());
      if (!entry.continued()) {
        text.append('\n');
      }
    }
    return text.toString();
  }

  private static int after(String cursor) {
    long sequence = Cursor.number(CURSOR, cursor);
    if (sequence > Integer.MAX_VALUE) {
      throw Cursor.invalid();
    }
    return (int) sequence;
  }

  private static int sequence(String where, String text) {
    try {
      int sequence = Integer.parseInt(text.strip());
      if (sequence >= 0) {
        return sequence;
      }
    } catch (NumberFormatException e) {
      // Reported below, as an unknown entry number.
    }
    throw Problem.invalid(where, "invalid_cursor", where + " must be the number of a log entry.");
  }

  private String json(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
