package dev.roost.execution;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Cursor;
import dev.roost.api.JsonText;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.cluster.OpenStreams;
import dev.roost.cluster.Waiting;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.log.LogEntry;
import dev.roost.log.LogRepository;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.RestMulti;

/**
 * The values that a job's latest attempt, or an execution, has emitted: a page, or live as events
 * or lines, with its progress and its end.
 */
@ApplicationScoped
public class StreamAnswers {
  static final String EVENTS = "text/event-stream;qs=0.2";
  static final String LINES_TYPE = "application/x-ndjson";
  static final String LINES = LINES_TYPE + ";qs=0.1";

  private static final Logger LOG = Logger.getLogger(StreamAnswers.class);
  private static final String CURSOR = "stream";

  /** So that no proxy closes an idle connection. */
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);

  /** The polling interval, because a signal may be lost. */
  private static final Duration LOOK = Duration.ofSeconds(5);

  /** The same for the beginning of an execution, which has no signal. */
  private static final Duration LOOK_FOR_BEGINNING = Duration.ofSeconds(1);

  /** The most questions of a job, and the most lines of its log, that are read at once. */
  private static final int MOST_AT_ONCE = 100;

  private static final String STATE =
      """
      select %s as job, e.id as execution, %s as attempt, %s as ended, e.progress, e.progress_message
      from %s where %s = :id""";

  private static final Sql OF_JOB =
      Sql.of(
          STATE.formatted(
              "j.id",
              "j.attempts",
              "j.finished_at is not null",
              "executor_job j left join execution e on e.id = j.latest_execution_id",
              "j.id"));

  private static final Sql OF_EXECUTION =
      Sql.of(
          STATE.formatted(
              "e.executor_job_id", "e.attempt", "e.state <> 'running'", "execution e", "e.id"));

  private final Database database;
  private final Waiting waiting;
  private final OpenStreams streams;
  private final ExecutorJobAnswers jobs;
  private final ObjectMapper mapper;
  private final LargeValues largeValues;
  private final Approvals approvals;
  private final LogRepository log;

  StreamAnswers(
      Database database,
      Waiting waiting,
      OpenStreams streams,
      ExecutorJobAnswers jobs,
      ObjectMapper mapper,
      LargeValues largeValues,
      Approvals approvals,
      LogRepository log) {
    this.database = database;
    this.waiting = waiting;
    this.streams = streams;
    this.jobs = jobs;
    this.mapper = mapper;
    this.largeValues = largeValues;
    this.approvals = approvals;
    this.log = log;
  }

  /** Whose values are streamed. */
  enum Of {
    JOB("ExecutorJob", OF_JOB),
    EXECUTION("Execution", OF_EXECUTION);

    private final String kind;
    private final Sql state;

    Of(String kind, Sql state) {
      this.kind = kind;
      this.state = state;
    }
  }

  private record State(
      String job, String execution, int attempt, boolean ended, ScriptProgress progress) {}

  /** A value as pages show it. */
  @Schema(name = "StreamValue")
  record View(
      @Schema(
              description = "Its attempt and its number there, from 1; streams resume after it",
              examples = "1-17")
          String id,
      @Schema(ref = "JsonText", description = "What the script has emitted, with its exact text")
          JsonText value) {}

  /**
   * @throws Problem not_found, validation_failed
   */
  Page<View> page(Of of, String id, Integer limit, String cursor) {
    int most = Page.limit(limit);
    long position = cursor == null ? 0 : Cursor.number(CURSOR, cursor);
    List<StreamValues.Value> values = new ArrayList<>();
    State state =
        database.once(
            connection -> {
              State now = state(connection, of, id);
              // A cursor of an earlier attempt leads to the beginning of this one.
              int after = position >> Integer.SIZE == now.attempt() ? (int) position : 0;
              while (values.size() <= most) {
                List<StreamValues.Value> some =
                    StreamValues.read(connection, now.job(), now.attempt(), after);
                if (some.isEmpty()) {
                  break;
                }
                values.addAll(some);
                after = some.get(some.size() - 1).number();
              }
              return now;
            });
    List<StreamValues.Value> shown = values.subList(0, Math.min(most, values.size()));
    return new Page<>(
        shown.stream()
            .map(value -> new View(state.attempt() + "-" + value.number(), value.json()))
            .toList(),
        values.size() <= most
            ? null
            : Cursor.of(
                CURSOR,
                (long) state.attempt() << Integer.SIZE | shown.get(shown.size() - 1).number()));
  }

  /**
   * Server-sent events: {@code value} with an id, {@code progress}, {@code restart} when another
   * attempt begins, and {@code end} with the resource.
   *
   * @param after the id of the last value that the client has, or null
   * @throws Problem not_found, rate_limited, validation_failed
   */
  Multi<OutboundSseEvent> events(Of of, String id, String after, Sse sse) {
    return stream(
        of,
        id,
        after,
        new Format<OutboundSseEvent>() {
          @Override
          public OutboundSseEvent value(String place, JsonText json) {
            return sse.newEventBuilder().id(place).name("value").data(json.text()).build();
          }

          @Override
          OutboundSseEvent event(String name, String json) {
            return sse.newEventBuilder().name(name).data(json).build();
          }

          @Override
          public OutboundSseEvent idle() {
            return sse.newEventBuilder().comment("still here").build();
          }
        });
  }

  /** The same as lines: an object with one of these names, and for values with {@code id}. */
  Multi<byte[]> lines(Of of, String id, String after) {
    Multi<byte[]> lines =
        stream(
            of,
            id,
            after,
            new Format<byte[]>() {
              @Override
              public byte[] value(String place, JsonText json) {
                return line("{\"id\":\"" + place + "\",\"value\":" + json.text() + "}");
              }

              @Override
              byte[] event(String name, String json) {
                return line("{\"" + name + "\":" + json + "}");
              }

              @Override
              public byte[] idle() {
                return line("");
              }

              private byte[] line(String text) {
                return (text + "\n").getBytes(StandardCharsets.UTF_8);
              }
            });
    return RestMulti.fromMultiData(lines).header("Content-Type", LINES_TYPE).build();
  }

  /**
   * Follows a job for a response of another form.
   *
   * @param after the place of the last value that the client has, or null
   * @throws Problem not_found, rate_limited, validation_failed
   */
  public <T> Multi<T> follow(String jobId, String after, JobListener.OfCall<T> listener) {
    return stream(Of.JOB, jobId, after, listener);
  }

  /** A response that names what happens and says the rest as JSON. */
  private abstract class Format<T> implements JobListener<T> {
    abstract T event(String name, String json);

    @Override
    public final T progress(ScriptProgress progress) {
      return event("progress", json(progress));
    }

    @Override
    public final T restart(int attempt) {
      return event("restart", "{\"attempt\":" + attempt + "}");
    }

    @Override
    public final T end(Object resource) {
      return event("end", json(resource));
    }
  }

  /** Where a stream is. */
  private static final class Position {
    int attempt;
    int number;
    ScriptProgress progress;

    /** The job's latest execution, whose signals say that there are questions and lines. */
    String latest;

    /** Whose log is read. */
    String execution;

    int line;
    final Set<String> asked = new HashSet<>();
    boolean isAtEnd;

    /** Null: at the beginning. */
    static Position of(String id) {
      Position position = new Position();
      if (id != null && !id.isBlank()) {
        String[] parts = id.strip().split("-", 2);
        try {
          position.attempt = Integer.parseInt(parts[0]);
          position.number = Integer.parseInt(parts[1]);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
          throw invalid();
        }
        if (position.attempt < 0 || position.number < 0) {
          throw invalid();
        }
      }
      return position;
    }

    private static Problem invalid() {
      return Problem.invalid(
          "after", "invalid_cursor", "Give the id of a value of the stream, for example 1-17.");
    }
  }

  private <T> Multi<T> stream(Of of, String id, String after, JobListener<T> format) {
    Position start = Position.of(after);
    String job = database.once(connection -> state(connection, of, id)).job();
    List<String> topics = List.of(id, StreamOperations.topic(job));
    streams.begin();
    return Multi.createBy()
        .repeating()
        .uni(() -> start, position -> step(of, id, topics, position, format))
        .until(List::isEmpty)
        .onItem()
        .<T>disjoint()
        .onFailure()
        .invoke(e -> LOG.warnf(e, "the stream of %s was aborted", id));
  }

  /** What comes next, as soon as there is something; nothing at the end. */
  private <T> Uni<List<T>> step(
      Of of, String id, List<String> topics, Position position, JobListener<T> format) {
    if (position.isAtEnd) {
      return Uni.createFrom().item(List.of());
    }
    boolean waitsForBeginning = format instanceof JobListener.OfCall && position.latest == null;
    return waiting
        .until(
            Stream.concat(topics.stream(), Stream.ofNullable(position.latest)).toList(),
            KEEP_ALIVE,
            waitsForBeginning ? LOOK_FOR_BEGINNING : LOOK,
            () -> Optional.of(next(of, id, position, format)).filter(items -> !items.isEmpty()),
            // The client resumes from its last value on another replica.
            () -> waiting.isEnding() ? List.<T>of() : List.of(format.idle()))
        .runSubscriptionOn(Infrastructure.getDefaultWorkerPool());
  }

  private <T> List<T> next(Of of, String id, Position position, JobListener<T> format) {
    List<T> items = new ArrayList<>();
    List<StreamValues.Value> values = new ArrayList<>();
    State state =
        database.once(
            connection -> {
              // The end is read first, so that all values are present afterwards.
              State now = state(connection, of, id);
              if (now.attempt() != position.attempt) {
                if (position.attempt != 0) {
                  items.add(format.restart(now.attempt()));
                }
                position.attempt = now.attempt();
                position.number = 0;
                position.progress = null;
              }
              values.addAll(
                  StreamValues.read(connection, now.job(), position.attempt, position.number));
              return now;
            });
    if (state.progress() != null && !Objects.equals(state.progress(), position.progress)) {
      items.add(format.progress(state.progress()));
      position.progress = state.progress();
    }
    for (StreamValues.Value value : values) {
      position.number = value.number();
      items.add(format.value(position.attempt + "-" + value.number(), value.json()));
    }
    boolean isRead = values.isEmpty();
    if (format instanceof JobListener.OfCall<T> call) {
      if (!Objects.equals(position.latest, state.execution())) {
        position.latest = state.execution();
        items.add(call.idle()); // The next wait also listens to its signals.
      }
      ask(state, position, call, items);
      isRead &= !call.wantsLog() || isLogRead(state, position, call, items);
    }
    if (isRead && state.ended()) {
      items.add(format.end(end(of, id)));
      position.isAtEnd = true;
    }
    return items;
  }

  private <T> void ask(State state, Position position, JobListener.OfCall<T> call, List<T> items) {
    if (state.ended()) {
      return;
    }
    for (Approval approval : approvals.pendingOfJob(state.job(), MOST_AT_ONCE)) {
      if (position.asked.add(approval.id())) {
        items.add(call.asked(approval));
      }
    }
  }

  /** Adds lines of the log. An execution's log is read to its end before the next one's. */
  private <T> boolean isLogRead(
      State state, Position position, JobListener.OfCall<T> call, List<T> items) {
    if (position.execution == null) {
      position.execution = state.execution();
    }
    if (position.execution == null) {
      return true;
    }
    List<LogEntry> lines =
        log.read(position.execution, position.line, MOST_AT_ONCE, LogRepository.Filter.NONE);
    for (LogEntry line : lines) {
      position.line = line.seq();
      items.add(call.line(line));
    }
    if (lines.isEmpty() && !position.execution.equals(state.execution())) {
      position.execution = state.execution();
      position.line = 0;
      return isLogRead(state, position, call, items);
    }
    return lines.isEmpty();
  }

  private static State state(Connection connection, Of of, String id) throws SQLException {
    return of.state
        .with("id", id)
        .first(
            connection,
            row ->
                new State(
                    row.getString("job"),
                    row.getString("execution"),
                    row.getInt("attempt"),
                    row.getBoolean("ended"),
                    ScriptProgress.of(
                        row.getObject("progress", Double.class),
                        row.getString("progress_message"))))
        .orElseThrow(() -> Problem.notFound(of.kind, id));
  }

  private Object end(Of of, String id) {
    return of == Of.JOB
        ? jobs.now(id)
        : largeValues.whole(
            QuarkusTransaction.requiringNew()
                .call(() -> Execution.View.of(Execution.<Execution>findById(id))));
  }

  private String json(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
