package dev.roost.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestDatabase;
import dev.roost.agent.OldAgents;
import dev.roost.api.Ids;
import dev.roost.builds.OldBuilderJobs;
import dev.roost.db.Database;
import dev.roost.db.ThrottledBatches;
import dev.roost.execution.OldExecutorJobs;
import dev.roost.executor.OldExecutors;
import dev.roost.executor.Rows;
import dev.roost.log.OldLogs;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class RetentionIT {
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");
  private static final Instant LONG_AGO = NOW.minus(Duration.ofDays(60));
  private static final Instant BEFORE = NOW.minus(Duration.ofDays(30));
  private static final String NOBODY = "agent_of_nobody";

  /** Those of processes of PostgreSQL's own are given up for whoever wants to write. */
  private static final String LOCKS_AGAINST_WRITERS =
      """
      pg_locks l join pg_stat_activity a using (pid)
      where l.relation = 'log_entry'::regclass and a.backend_type = 'client backend'
        and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')""";

  @Inject Database database;
  private Rows rows;
  private ThrottledBatches batches;

  @BeforeEach
  void begin() {
    rows = new Rows(database);
    batches = new ThrottledBatches(database, () -> true);
  }

  @Test
  void onlyJobsThatEndedLongAgoAreDeletedWithTheirExecutionsAndLogs() {
    String old = rows.job(NOBODY, LONG_AGO, "succeeded", LONG_AGO, 1);
    String running = rows.job(NOBODY, LONG_AGO, "running", null, 1);
    String endedLately = rows.job(NOBODY, LONG_AGO, "succeeded", NOW, 1);
    String fresh = rows.job(NOBODY, NOW, "succeeded", NOW, 1);

    assertEquals(1L, OldExecutorJobs.remove(batches, BEFORE));

    assertEquals(0, rows.ofJob(old));
    for (String kept : List.of(running, endedLately, fresh)) {
      assertEquals(3, rows.ofJob(kept), kept);
    }
  }

  @Test
  void theStepsOfAJobAreDeletedWithIt() {
    Instant before = Instant.parse("2025-02-01T00:00:00Z");
    String old = rows.job(NOBODY, before.minusSeconds(9), "succeeded", before.minusSeconds(5), 0);
    String kept = rows.job(NOBODY, NOW, "succeeded", NOW, 0);
    for (String job : List.of(old, kept)) {
      rows.run(
          """
          insert into executor_job_step (executor_job_id, seq, path, name, execution_id, result, attempts, seconds,
            finished_at, total_bytes)
          select ?, i, i::text, 'step', 'exec_', '1', 1, 0, now(), i from generate_series(1, 2 * ? + 1) i""",
          job,
          OldLogs.LIMIT);
    }

    assertEquals(1L, OldExecutorJobs.remove(batches, before));

    assertEquals(0, rows.count("executor_job_step where executor_job_id = ?", old));
    assertEquals(
        2L * OldLogs.LIMIT + 1, rows.count("executor_job_step where executor_job_id = ?", kept));
  }

  @Test
  void theValuesOfAJobAreDeletedWithIt() {
    Instant before = Instant.parse("2025-02-10T00:00:00Z");
    String old = rows.job(NOBODY, before.minusSeconds(9), "succeeded", before.minusSeconds(5), 0);
    String kept = rows.job(NOBODY, NOW, "succeeded", NOW, 0);
    for (String job : List.of(old, kept)) {
      rows.run(
          """
          insert into stream_chunk (executor_job_id, attempt, first, last, data, total_bytes)
          select ?, 1 + i % 3, i, i, '1', i from generate_series(1, 2 * ? + 1) i""",
          job, OldExecutorJobs.LIMIT);
    }

    assertEquals(1L, OldExecutorJobs.remove(batches, before));

    assertEquals(0, rows.count("stream_chunk where executor_job_id = ?", old));
    assertEquals(
        2L * OldExecutorJobs.LIMIT + 1, rows.count("stream_chunk where executor_job_id = ?", kept));
  }

  @Test
  void manyJobsAreDeletedInSeveralSteps() {
    Instant before = Instant.parse("2025-03-01T00:00:00Z");
    for (int i = 0; i < 2 * OldExecutorJobs.LIMIT + 1; i++) {
      rows.job(NOBODY, before.minusSeconds(i + 1), "failed", before.minusSeconds(1), 0);
    }
    assertEquals(2L * OldExecutorJobs.LIMIT + 1, OldExecutorJobs.remove(batches, before));
  }

  @Test
  void aLongLogGoesInStepsThatBlockNoWriter() throws Exception {
    int steps = 20;
    Instant before = Instant.parse("2025-06-01T00:00:00Z");
    String old = rows.job(NOBODY, before.minusSeconds(9), "succeeded", before.minusSeconds(5), 0);
    String execution = rows.text("select id from execution where executor_job_id = ?", old);
    rows.log(execution, steps * OldLogs.LIMIT);
    Set<Long> left = Collections.synchronizedSet(new LinkedHashSet<>());
    // Called between any two transactions: what others see then.
    BooleanSupplier looking =
        () -> {
          left.add(rows.count("log_entry where owner_id = ?", execution));
          return true;
        };
    CompletableFuture<Void> removing =
        CompletableFuture.runAsync(
            () -> OldExecutorJobs.remove(new ThrottledBatches(database, looking), before));

    String other = Ids.next("exec");
    for (int i = 1; !removing.isDone(); i++) {
      rows.run(
          """
          insert into log_entry (owner_id, seq, time, stream, message, continued)
          values (?, ?, now(), 'stdout', 'hello', false)""",
          other,
          i);
      assertEquals(0, rows.count(LOCKS_AGAINST_WRITERS));
    }
    removing.get();
    assertEquals(0, rows.ofJob(old));
    assertEquals(
        LongStream.rangeClosed(0, steps)
            .map(step -> (steps - step) * OldLogs.LIMIT)
            .boxed()
            .toList(),
        List.copyOf(left));
    rows.run("delete from log_entry where owner_id = ?", other);
  }

  @Test
  void whatSomebodyHoldsStaysForTheNextTime() {
    Instant before = Instant.parse("2025-09-01T00:00:00Z");
    String held = rows.job(NOBODY, before.minusSeconds(9), "succeeded", before.minusSeconds(5), 3);
    String free = rows.job(NOBODY, before.minusSeconds(8), "succeeded", before.minusSeconds(5), 3);
    database.inTransaction(
        connection -> {
          try (var statement =
              connection.prepareStatement(
                  """
              select 1 from log_entry l join execution e on e.id = l.owner_id
              where e.executor_job_id = ? and l.seq = 2 for update of l""")) {
            statement.setString(1, held);
            statement.executeQuery();
            assertEquals(1L, OldExecutorJobs.remove(batches, before));
          }
          return null;
        });
    assertEquals(0, rows.ofJob(free));
    assertEquals(3, rows.ofJob(held), "the job, its execution and the line");
    assertEquals(1L, OldExecutorJobs.remove(batches, before));
    assertEquals(0, rows.ofJob(held));
  }

  @Test
  void itEndsBetweenTwoStepsWhenItIsToStopOrNoLongerLeads() {
    Instant before = Instant.parse("2025-10-01T00:00:00Z");
    String job = rows.job(NOBODY, before.minusSeconds(9), "failed", before.minusSeconds(5), 1);
    batches.stop();
    assertThrows(ThrottledBatches.Interrupted.class, () -> OldExecutorJobs.remove(batches, before));
    assertThrows(
        ThrottledBatches.Interrupted.class,
        () -> OldExecutorJobs.remove(new ThrottledBatches(database, () -> false), before));
    assertEquals(3, rows.ofJob(job));
    OldExecutorJobs.remove(new ThrottledBatches(database, () -> true), before);
    assertEquals(0, rows.ofJob(job));
  }

  @Test
  void executorsGoAfterTheirExecutions() {
    String gone = rows.executor("build_", LONG_AGO, true);
    String live = rows.executor("build_", LONG_AGO, false);
    String late = rows.executor("build_", NOW, true);
    String ran = rows.executor("build_", LONG_AGO, true);
    String job = rows.job(NOBODY, LONG_AGO, "succeeded", NOW, 0);
    rows.run("update execution set executor_id = ? where executor_job_id = ?", ran, job);

    OldExecutors.remove(batches, BEFORE);

    assertEquals(0, rows.count("executor where id = ?", gone));
    for (String kept : List.of(live, late, ran)) {
      assertEquals(1, rows.count("executor where id = ?", kept));
    }
    rows.run("delete from executor where id = ?", live);
  }

  @Test
  void builderJobsStayAsLongAsARevisionRefersToThemAndTheirLogsAsLongAsTheAgentIsSo() {
    String free = rows.builderJob(NOBODY, null, LONG_AGO);
    String young = rows.builderJob(NOBODY, null, NOW);
    String earlier = rows.builderJob(NOBODY, null, LONG_AGO);
    String current = rows.builderJob(NOBODY, null, LONG_AGO);
    rows.agent(null, earlier, current);

    OldBuilderJobs.remove(batches, BEFORE);

    assertEquals(0, jobAndLog(free));
    assertEquals(2, jobAndLog(young));
    assertEquals(1, rows.count("builder_job where id = ?", earlier));
    assertEquals(1, jobAndLog(earlier), "its log is gone");
    assertEquals(2, jobAndLog(current));
  }

  private long jobAndLog(String builderJob) {
    return rows.count("builder_job where id = ?", builderJob)
        + rows.count("log_entry where owner_id = ?", builderJob);
  }

  @Test
  void agentsThatWereDeletedLongAgoGoWhenTheirHistoryHas() {
    String job = rows.builderJob("agent_other", null, LONG_AGO);
    String gone = rows.agent(LONG_AGO, job, job);
    rows.run("update builder_job set agent_id = ? where id = ?", gone, job);
    String kept = rows.builderJob("agent_other", null, LONG_AGO);
    String withHistory = rows.agent(LONG_AGO, kept);
    rows.run("update builder_job set agent_id = ? where id = ?", withHistory, kept);
    String executorJob = rows.job(withHistory, LONG_AGO, "succeeded", NOW, 1);
    String lately = rows.agent(NOW, rows.builderJob("agent_other", null, LONG_AGO));
    String living = rows.agent(null, rows.builderJob("agent_other", null, LONG_AGO));

    OldAgents.remove(batches, BEFORE);

    assertEquals(0, rows.count("agent where id = ?", gone));
    assertEquals(0, rows.count("agent_revision where agent_id = ?", gone));
    assertEquals(0, jobAndLog(job));
    for (String agent : List.of(withHistory, lately, living)) {
      assertEquals(1, rows.count("agent where id = ?", agent));
      assertEquals(1, rows.count("agent_revision where agent_id = ?", agent));
    }
    rows.run("update executor_job set finished_at = ? where id = ?", LONG_AGO, executorJob);
    OldExecutorJobs.remove(batches, BEFORE);
    OldAgents.remove(batches, BEFORE);
    assertEquals(0, rows.count("agent where id = ?", withHistory));
    assertEquals(0, jobAndLog(kept));
  }

  @Test
  void identifiersSortAfterTheFirstOfTheirTime() {
    Instant before = Instant.now();
    String made = Ids.next("xjob");
    assertTrue(Ids.first("xjob", before).compareTo(made) <= 0);
    assertTrue(Ids.first("xjob", before.plusSeconds(60)).compareTo(made) > 0);
    assertNull(rows.text("select id from executor_job where id = ?", made));
  }
}
