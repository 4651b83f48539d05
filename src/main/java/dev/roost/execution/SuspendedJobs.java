package dev.roost.execution;

import dev.roost.cluster.Leadership;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.cluster.Signals;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Queues suspended jobs when it is their time to continue, and ends what ended jobs have called.
 */
@ApplicationScoped
public class SuspendedJobs {
  private static final int BATCH = 500;

  /**
   * The longest pause. A job is suspended for longer than {@code roost.executors.suspend-after}, so
   * the next pass usually sees it in time.
   */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  /**
   * The priority and the age of a job stay, so it comes before those that were submitted later. By
   * the database's clock, which the sleeps were stored by.
   */
  private static final Sql RESUME =
      Sql.of(
          """
          with due as (
            select id from executor_job where state = 'suspended' and resume_at <= now()
            order by resume_at limit :most for update skip locked)
          update executor_job j set state = 'queued', not_before = j.resume_at, resume_at = null, resumed = true
          from due where j.id = due.id
          returning j.id, j.agent_id, j.agent_revision""");

  private static final Sql NEXT =
      Sql.of(
          """
          select extract(epoch from min(resume_at) - clock_timestamp())::float8 as seconds
          from executor_job where state = 'suspended'""");

  private static final Sql ENDED_CALLERS =
      Sql.of(
          """
          select id from executor_job where has_calls and finished_at is not null limit :most""");

  private static final Sql OPEN_CALLS =
      Sql.of(
          """
          select id from executor_job where parent_id = any(:callers) and finished_at is null""");

  private static final Sql CLOSE =
      Sql.of("update executor_job set has_calls = false where id = any(:callers)");

  private final Database database;
  private final ExecutorJobs jobs;
  private final QueuedJobs queued;
  private final Signals signals;
  private final Leadership leadership;
  private final Loop loop;
  private CompletableFuture<Void> change = new CompletableFuture<>();
  private volatile boolean stopping;

  SuspendedJobs(
      Database database,
      ExecutorJobs jobs,
      QueuedJobs queued,
      Signals signals,
      Replicas replicas,
      Loops loops) {
    this.database = database;
    this.jobs = jobs;
    this.queued = queued;
    this.signals = signals;
    this.leadership = replicas;
    this.loop = loops.make("suspended-jobs", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    loop.stop();
  }

  /** After the commit of what lets a job continue at once. */
  void wake() {
    signals.fire(EventLog.TOPIC);
  }

  private record Resumed(String id, String agentId, int revision) {}

  /** Queues the jobs whose time has come; returns the pause until the next one. */
  public Duration pass() {
    // Whatever has ended, or been suspended, after this.
    change.cancel(false);
    change = signals.next(EventLog.TOPIC);
    cancelCalls();
    while (resume() == BATCH && leadership.isHeld() && !stopping) {
      // One transaction per batch, so that no lock is held for long.
    }
    Double seconds =
        database.once(
            connection ->
                NEXT.with().list(connection, row -> row.getObject("seconds", Double.class)).get(0));
    change.thenRun(loop::wake);
    return seconds == null || seconds > LONGEST.toSeconds()
        ? LONGEST
        : Duration.ofMillis(Math.max(1, (long) Math.ceil(seconds * 1_000)));
  }

  /** A job that has ended doesn't need the jobs that it has called any more. */
  private void cancelCalls() {
    while (!stopping) {
      String[] callers =
          database
              .once(connection -> ENDED_CALLERS.with("most", BATCH).strings(connection))
              .toArray(String[]::new);
      if (callers.length == 0) {
        return;
      }
      database
          .once(connection -> OPEN_CALLS.with("callers", callers).strings(connection))
          .forEach(jobs::cancel);
      database.once(connection -> CLOSE.with("callers", callers).update(connection));
    }
  }

  private int resume() {
    Sql.Bound resume = RESUME.with("most", BATCH);
    List<Resumed> resumed =
        database.once(
            connection ->
                resume.list(
                    connection,
                    row ->
                        new Resumed(
                            row.getString("id"),
                            row.getString("agent_id"),
                            row.getInt("agent_revision"))));
    record Target(String agentId, int revision) {}
    Map<Target, Integer> counts = new LinkedHashMap<>();
    for (Resumed job : resumed) {
      signals.fire(job.id());
      counts.merge(new Target(job.agentId(), job.revision()), 1, Integer::sum);
    }
    List<ExecutorJobQueued> events = new ArrayList<>();
    counts.forEach(
        (target, count) ->
            events.add(new ExecutorJobQueued(target.agentId(), target.revision(), count)));
    queued.announce(events);
    return resumed.size();
  }
}
