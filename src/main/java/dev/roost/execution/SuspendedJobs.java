package dev.roost.execution;

import dev.roost.cluster.Leadership;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.cluster.Signals;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Queues suspended jobs when it is their time to continue. */
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

  private final Database database;
  private final QueuedJobs queued;
  private final Signals signals;
  private final Leadership leadership;
  private final Loop loop;
  private volatile boolean stopping;

  SuspendedJobs(
      Database database, QueuedJobs queued, Signals signals, Replicas replicas, Loops loops) {
    this.database = database;
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

  private record Resumed(String id, String agentId, int revision) {}

  /** Queues the jobs whose time has come; returns the pause until the next one. */
  public Duration pass() {
    while (resume() == BATCH && leadership.isHeld() && !stopping) {
      // One transaction per batch, so that no lock is held for long.
    }
    Double seconds =
        database.once(
            connection ->
                NEXT.with().list(connection, row -> row.getObject("seconds", Double.class)).get(0));
    return seconds == null || seconds > LONGEST.toSeconds()
        ? LONGEST
        : Duration.ofMillis(Math.max(1, (long) Math.ceil(seconds * 1_000)));
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
