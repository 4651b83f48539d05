package dev.roost.execution;

import dev.roost.agent.TypeHints;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.execution.Execution.Progress;
import dev.roost.log.LogEntry;
import dev.roost.log.LogRepository;
import dev.roost.state.ExecutionState;
import dev.roost.trace.Traces;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Stores the frames of executors, from both delivery paths: the link and an ended executor's
 * output.
 */
@ApplicationScoped
public class FrameIntake {
  private static final Sql LOCK =
      Sql.of(
          """
          select e.executor_id, e.state, e.acknowledged, e.log_entries, e.log_bytes, e.executor_job_id, j.cancel_requested,
            e.agent_id, e.agent_revision, e.concurrency_key, e.started_at, e.entered_at, e.cold_start
          from execution e join executor_job j on j.id = e.executor_job_id
          where e.id = :id for update of e""");

  private static final Sql ADVANCE =
      Sql.of(
          """
          update execution set acknowledged = :acknowledged, log_entries = :entries,
            log_bytes = :bytes, entered_at = coalesce(cast(:entered as timestamptz), entered_at)
          where id = :id""");

  private final EntityManager entities;
  private final LogRepository log;
  private final Signals signals;
  private final Event<ExecutorJobQueued> queued;
  private final Event<ConcurrencyKeyFreed> freed;
  private final ExecutionCompletion endings;
  private final Storage storage;
  private final FrameLimits limits;
  private final ExecutionMeters meters;
  private final Traces traces;
  private final AwaitedJobs awaitedJobs;
  private final LargeValues values;
  private final TypeHints hints;

  FrameIntake(
      EntityManager entities,
      LogRepository log,
      Signals signals,
      Event<ExecutorJobQueued> queued,
      Event<ConcurrencyKeyFreed> freed,
      ExecutionCompletion endings,
      Storage storage,
      RoostConfig config,
      ExecutionMeters meters,
      Traces traces,
      AwaitedJobs awaitedJobs,
      LargeValues values,
      TypeHints hints) {
    this.entities = entities;
    this.log = log;
    this.signals = signals;
    this.queued = queued;
    this.freed = freed;
    this.endings = endings;
    this.storage = storage;
    this.meters = meters;
    this.traces = traces;
    this.awaitedJobs = awaitedJobs;
    this.values = values;
    this.hints = hints;
    this.limits = FrameLimits.of(config.limits());
  }

  /**
   * @param acknowledged every frame up to this one is stored
   * @param cancel whether the script is to be stopped
   * @param last whether the execution has ended
   */
  public record Ack(int acknowledged, boolean cancel, boolean last) {}

  /** The Execution's row when frames arrive. */
  private record Row(
      String executorId,
      ExecutionState state,
      int acknowledged,
      int logEntries,
      long logBytes,
      String jobId,
      boolean cancel,
      String agentId,
      int revision,
      String concurrencyKey,
      Instant startedAt,
      Instant enteredAt,
      boolean cold) {
    static Row read(ResultSet row) throws SQLException {
      return new Row(
          row.getString("executor_id"),
          Code.parse(ExecutionState.class, row.getString("state")),
          row.getInt("acknowledged"),
          row.getInt("log_entries"),
          row.getLong("log_bytes"),
          row.getString("executor_job_id"),
          row.getBoolean("cancel_requested"),
          row.getString("agent_id"),
          row.getInt("agent_revision"),
          row.getString("concurrency_key"),
          Sql.instant(row, "started_at"),
          Sql.instant(row, "entered_at"),
          row.getBoolean("cold_start"));
    }

    /** That of an execution whose frames were all stored at once. */
    static Row before(String executorId, Execution.Succeeded ended) {
      return new Row(
          executorId,
          ExecutionState.RUNNING,
          0,
          0,
          0,
          ended.executorJobId(),
          false,
          ended.agentId(),
          ended.agentRevision(),
          ended.concurrencyKey(),
          ended.startedAt(),
          null,
          ended.coldStart());
    }

    boolean isRunning() {
      return state == ExecutionState.RUNNING;
    }
  }

  /**
   * Stores frames in one transaction; skips frames that are stored already.
   *
   * @throws Problem not_found or fenced: the execution is not (or no longer) this executor's
   */
  public Ack take(String executorId, String executionId, List<Frame> frames) {
    for (Frame frame : frames) {
      // Before the end is announced: who waits for that may ask for the schemas next.
      if (frame instanceof Frame.Started started && started.schemas() != null) {
        hints.store(executorId, executionId, started.schemas());
      }
    }
    Stored stored =
        storeAtOnce(executorId, executionId, frames)
            .orElseGet(() -> storeKept(executorId, executionId, frames));
    announce(executionId, stored);
    return stored.ack();
  }

  /** Stores frames, with a large return value as a file. */
  private Stored storeKept(String executorId, String executionId, List<Frame> frames) {
    List<Frame> kept = new ArrayList<>(frames);
    Outcome outcome = null;
    if (!frames.isEmpty() && frames.get(frames.size() - 1) instanceof Frame.End end) {
      // Before the transaction, which would be open for as long as the storage of files takes.
      outcome = values.keep(executionId, limits.bounded(end.outcome()));
      kept.set(kept.size() - 1, new Frame.End(end.seq(), outcome));
    }
    return storeOrDiscard(outcome, () -> store(executorId, executionId, kept));
  }

  /**
   * @param outcome whose file is removed unless its Execution ends with it; or null
   */
  private Stored storeOrDiscard(Outcome outcome, Callable<Stored> store) {
    boolean isUsed = false;
    try {
      Stored stored = QuarkusTransaction.requiringNew().call(store);
      isUsed = stored.outcome() != null;
      return stored;
    } finally {
      if (!isUsed && outcome != null) {
        values.discard(outcome.returnValueFileId());
      }
    }
  }

  /**
   * Stores all frames of a short execution that has succeeded and printed nothing: the shortest way
   * to its answer, in a single round trip.
   *
   * @return empty if these aren't such frames, or the Execution isn't in the state for them
   */
  private Optional<Stored> storeAtOnce(String executorId, String executionId, List<Frame> frames) {
    if (frames.size() != 2
        || !(frames.get(0) instanceof Frame.Started started && started.seq() == 1)
        || !(frames.get(1) instanceof Frame.End end && end.seq() == 2)
        || end.outcome().state() != ExecutionState.SUCCEEDED) {
      return Optional.empty();
    }
    Outcome outcome = limits.bounded(end.outcome());
    if (outcome.state() != ExecutionState.SUCCEEDED || LargeValues.isLarge(outcome.returnValue())) {
      return Optional.empty();
    }
    Progress progress = new Progress(end.seq(), 0, 0L, started.time());
    Optional<AwaitedJobs.Awaited> awaited = awaitedJobs.of(executionId);
    Optional<Execution.Succeeded> succeeded =
        endings.succeedAtOnce(executorId, executionId, progress, outcome, awaited.isPresent());
    awaited.ifPresent(job -> succeeded.map(Execution.Succeeded::job).ifPresent(job::end));
    return succeeded.map(
        ended ->
            new Stored(
                Row.before(executorId, ended),
                new Ack(end.seq(), false, true),
                true,
                started.time(),
                outcome,
                false));
  }

  /**
   * @param entered when main was called, if these frames contain it; or null
   * @param outcome the execution's outcome, if it has ended now; or null
   * @param again whether the job waits for another attempt
   */
  private record Stored(
      Row row, Ack ack, boolean changed, Instant entered, Outcome outcome, boolean again) {
    static Stored nothing(Row row, Ack ack) {
      return new Stored(row, ack, false, null, null, false);
    }
  }

  private Stored store(String executorId, String executionId, List<Frame> frames) {
    Row row = lock(executionId);
    if (!row.executorId().equals(executorId)) {
      throw fenced();
    }
    if (!row.isRunning()) {
      // A retransmission after the last frame, since its answer was lost. Later frames belong to
      // a run that was given up.
      int last = frames.isEmpty() ? 0 : frames.get(frames.size() - 1).seq();
      if (frames.isEmpty() || last > row.acknowledged()) {
        throw fenced();
      }
      return Stored.nothing(row, new Ack(row.acknowledged(), false, true));
    }
    int acknowledged = row.acknowledged();
    List<LogEntry> entries = new ArrayList<>();
    Instant entered = null;
    Outcome outcome = null;
    for (Frame frame : frames) {
      if (frame.seq() != acknowledged + 1 || outcome != null) {
        continue;
      }
      acknowledged++;
      if (frame instanceof Frame.Started started) {
        entered = started.time();
      } else if (frame instanceof Frame.Log lines) {
        entries.addAll(lines.entries());
      } else if (frame instanceof Frame.End end) {
        outcome = end.outcome();
      }
    }
    boolean changed = acknowledged > row.acknowledged();
    boolean again = false;
    if (changed) {
      FrameLimits.Admitted admitted = append(executionId, row, entries);
      Progress progress =
          new Progress(acknowledged, row.logEntries() + entries.size(), admitted.bytes(), entered);
      if (outcome == null) {
        advance(executionId, progress);
      } else {
        again = endings.finish(executionId, progress, bounded(outcome, admitted), false);
      }
    }
    Ack ack = new Ack(acknowledged, row.cancel(), outcome != null);
    return new Stored(row, ack, changed, entered, outcome, again);
  }

  /**
   * Ends an execution whose executor has ended, with the output that did not arrive over the link.
   *
   * @param entries all log entries of the execution that were found
   * @param entered when main was called, if the output contains it
   * @param outcome the outcome in the last frame, or what is known otherwise
   * @param mayHaveEntered whether main may have been called although no frame says so
   */
  public void replay(
      String executionId,
      List<LogEntry> entries,
      Instant entered,
      Outcome outcome,
      boolean mayHaveEntered) {
    Outcome kept = values.keep(executionId, limits.bounded(outcome));
    Stored stored =
        storeOrDiscard(
            kept,
            () -> {
              Row row = lock(executionId);
              if (!row.isRunning()) {
                return Stored.nothing(row, new Ack(row.acknowledged(), false, true));
              }
              List<LogEntry> missing = new ArrayList<>();
              for (LogEntry entry : entries) {
                if (entry.seq() == row.logEntries() + missing.size() + 1) {
                  missing.add(entry);
                }
              }
              FrameLimits.Admitted admitted = append(executionId, row, missing);
              Progress progress =
                  new Progress(
                      row.acknowledged(),
                      row.logEntries() + missing.size(),
                      admitted.bytes(),
                      entered);
              Outcome bounded = bounded(kept, admitted);
              boolean again = endings.finish(executionId, progress, bounded, mayHaveEntered);
              return new Stored(
                  row, new Ack(row.acknowledged(), false, true), true, entered, bounded, again);
            });
    announce(executionId, stored);
  }

  private Outcome bounded(Outcome outcome, FrameLimits.Admitted log) {
    Outcome bounded = limits.bounded(outcome);
    return log.cut() ? bounded.withLogsTruncated() : bounded;
  }

  private FrameLimits.Admitted append(String executionId, Row row, List<LogEntry> entries) {
    for (int i = 0; i < entries.size(); i++) {
      if (entries.get(i).seq() != row.logEntries() + i + 1) {
        throw Problem.of(ErrorCode.MALFORMED_JSON, "Log entries must be numbered without gaps.");
      }
    }
    FrameLimits.Admitted admitted =
        limits.admit(row.logBytes(), row.logEntries(), entries, storage.isFull(Storage.Area.LOGS));
    log.append(executionId, admitted.entries());
    return admitted;
  }

  private void advance(String executionId, Progress progress) {
    ADVANCE
        .with("acknowledged", progress.acknowledged())
        .with("entries", progress.logEntries())
        .with("bytes", progress.logBytes())
        .with("entered", progress.enteredAt())
        .with("id", executionId)
        .update(entities);
  }

  private Row lock(String executionId) {
    return LOCK.with("id", executionId)
        .first(entities, Row::read)
        .orElseThrow(() -> Problem.notFound("Execution", executionId));
  }

  private void announce(String executionId, Stored stored) {
    measure(stored);
    if (stored.outcome() != null) {
      traces.ended(executionId);
    }
    if (stored.changed()) {
      signals.fire(executionId);
      if (stored.ack().last()) {
        signals.fire(stored.row().jobId());
        if (stored.row().concurrencyKey() != null) {
          freed.fire(new ConcurrencyKeyFreed(stored.row().agentId()));
        }
      }
      if (stored.again()) {
        queued.fire(new ExecutorJobQueued(stored.row().agentId(), stored.row().revision()));
      }
    }
  }

  private void measure(Stored stored) {
    Row row = stored.row();
    Instant entered = row.enteredAt() == null ? stored.entered() : row.enteredAt();
    if (row.enteredAt() == null && entered != null) {
      meters.entered(row.startedAt(), entered, row.cold());
    }
    if (stored.outcome() != null) {
      meters.ended(row.jobId(), stored.outcome(), entered, row.cold());
    }
  }

  private static Problem fenced() {
    return Problem.of(ErrorCode.FENCED, "The execution no longer belongs to this executor.");
  }
}
