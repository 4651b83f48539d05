package dev.roost.trace;

import dev.roost.config.RoostConfig;
import dev.roost.db.Code;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.state.ExecutionState;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;

/**
 * Propagates traces from callers through executions to scripts. A caller's trace always reaches the
 * script. With {@code roost.traces.endpoint}, Roost adds its own spans: of requests, and of each
 * execution how long it was queued, was starting and ran. The spans of an execution are created
 * after its end from the times in the database, since several replicas take part in it.
 */
@ApplicationScoped
public class Traces {
  private static final Logger LOG = Logger.getLogger(Traces.class);

  private static final Sql ENDED =
      Sql.of(
          """
          select e.id, e.executor_job_id, e.agent_id, a.name, e.attempt, e.state, e.reason, e.cold_start,
            e.queued_seconds, e.started_at, e.entered_at, e.finished_at, j.traceparent
          from execution e join executor_job j on j.id = e.executor_job_id join agent a on a.id = e.agent_id
          where e.id = :execution and e.finished_at is not null""");

  private final Optional<String> scripts;
  private final boolean own;
  private final Tracer tracer;
  private final GivenIds ids;
  private final Database database;
  private final ExecutorService workers;

  Traces(
      RoostConfig config, Tracer tracer, GivenIds ids, Database database, ExecutorService workers) {
    this.own = config.traces().endpoint().isPresent();
    this.scripts = config.traces().scriptEndpoint().or(config.traces()::endpoint);
    this.tracer = tracer;
    this.ids = ids;
    this.database = database;
    this.workers = workers;
  }

  /**
   * The parent in a trace of a job that a request submits.
   *
   * @param header {@code traceparent} of the request; or null
   * @return for {@link #environment}; null: no trace
   */
  public String parent(String header) {
    SpanContext current = Span.current().getSpanContext();
    if (own && current.isValid()) {
      int flags = current.getTraceFlags().asByte() & 0xff;
      return new TraceParent(current.getTraceId(), current.getSpanId(), flags).text();
    }
    return TraceParent.parse(header).map(TraceParent::text).orElse(null);
  }

  /**
   * The environment variables with which a script continues the trace.
   *
   * @param parent of the script's job, or null
   */
  public Map<String, String> environment(String parent, String jobId, String executionId) {
    Map<String, String> variables = new TreeMap<>();
    if (own) {
      TraceParent job = job(parent, jobId);
      String span = TraceParent.spanIdOf(executionId);
      variables.put("TRACEPARENT", new TraceParent(job.traceId(), span, job.flags()).text());
    } else if (parent != null) {
      variables.put("TRACEPARENT", parent);
    }
    if (!variables.isEmpty()) {
      scripts.ifPresent(address -> variables.put("OTEL_EXPORTER_OTLP_ENDPOINT", address));
    }
    return variables;
  }

  private static TraceParent job(String parent, String jobId) {
    return TraceParent.parse(parent).orElseGet(() -> TraceParent.begunBy(jobId));
  }

  /**
   * Creates the spans of an ended execution; call this after the transaction that stores the end.
   */
  public void ended(String executionId) {
    if (!own) {
      return;
    }
    try {
      workers.execute(() -> export(executionId));
    } catch (RejectedExecutionException e) {
      LOG.debugf("no spans of %s: Roost is stopping", executionId);
    }
  }

  private void export(String executionId) {
    try {
      Sql.Bound ended = ENDED.with("execution", executionId);
      database.once(connection -> ended.first(connection, Ended::of)).ifPresent(this::export);
    } catch (Database.Failure e) {
      LOG.warnf("no spans of %s: %s", executionId, e.getMessage());
    }
  }

  /**
   * @param enteredAt when main was called; or null
   * @param parent of the job, or null
   */
  private record Ended(
      String id,
      String jobId,
      String agentId,
      String agentName,
      int attempt,
      ExecutionState state,
      String reason,
      boolean cold,
      Instant queuedAt,
      Instant startedAt,
      Instant enteredAt,
      Instant finishedAt,
      String parent) {
    static Ended of(ResultSet row) throws SQLException {
      Instant started = Sql.instant(row, "started_at");
      long queued = (long) (row.getDouble("queued_seconds") * 1e9);
      return new Ended(
          row.getString("id"),
          row.getString("executor_job_id"),
          row.getString("agent_id"),
          row.getString("name"),
          row.getInt("attempt"),
          Code.parse(ExecutionState.class, row.getString("state")),
          row.getString("reason"),
          row.getBoolean("cold_start"),
          started.minusNanos(queued),
          started,
          Sql.instant(row, "entered_at"),
          Sql.instant(row, "finished_at"),
          row.getString("traceparent"));
    }
  }

  private void export(Ended ended) {
    TraceParent job = job(ended.parent(), ended.jobId());
    if (!job.isSampled()) {
      return;
    }
    SpanBuilder builder =
        tracer
            .spanBuilder("execute " + ended.agentName())
            .setSpanKind(SpanKind.CONSUMER)
            .setParent(context(job))
            .setStartTimestamp(ended.queuedAt())
            .setAttribute("roost.agent.id", ended.agentId())
            .setAttribute("roost.agent.name", ended.agentName())
            .setAttribute("roost.executor_job.id", ended.jobId())
            .setAttribute("roost.execution.id", ended.id())
            .setAttribute("roost.execution.attempt", ended.attempt())
            .setAttribute("roost.execution.state", ended.state().code())
            .setAttribute("roost.execution.cold_start", ended.cold());
    Span execute = ids.with(job.traceId(), TraceParent.spanIdOf(ended.id()), builder::startSpan);
    if (ended.state() != ExecutionState.SUCCEEDED && ended.state() != ExecutionState.SUSPENDED) {
      String reason = ended.reason() == null ? ended.state().code() : ended.reason();
      execute.setAttribute("error.type", reason).setStatus(StatusCode.ERROR, reason);
    }
    Context within = Context.root().with(execute);
    step(within, "queued", ended.queuedAt(), ended.startedAt());
    Instant running = ended.enteredAt() == null ? ended.finishedAt() : ended.enteredAt();
    step(within, "starting", ended.startedAt(), running);
    if (ended.enteredAt() != null) {
      step(within, "main", ended.enteredAt(), ended.finishedAt());
    }
    execute.end(ended.finishedAt());
  }

  private void step(Context parent, String name, Instant from, Instant to) {
    tracer.spanBuilder(name).setParent(parent).setStartTimestamp(from).startSpan().end(to);
  }

  /** Without a parent, the job is the root of its trace. */
  private static Context context(TraceParent job) {
    if (!job.isInSpan()) {
      return Context.root();
    }
    TraceFlags flags = TraceFlags.fromByte((byte) job.flags());
    return Context.root()
        .with(
            Span.wrap(
                SpanContext.createFromRemoteParent(
                    job.traceId(), job.spanId(), flags, TraceState.getDefault())));
  }
}
