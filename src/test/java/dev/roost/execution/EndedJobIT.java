package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.file.Files;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller that waits gets the same ExecutorJob as one that reads it. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class EndedJobIT {
  private static final Sql END =
      Sql.of(
          """
          update executor_job set finished_at = created_at + interval '2 seconds', latest_execution_id = e.id
          from execution e where e.id = :id and executor_job.id = e.executor_job_id""");

  private static final Sql FILL =
      Sql.of(
          """
          with changed as (
            update execution set reason = 'exception', message = 'It failed.', error = '{"type": "E"}',
              return_value = '[1.', return_value_file_id = :valueFile, entered_at = started_at + interval '1 second', cold_start = true,
              queued_seconds = 0.25, cpu_seconds = 0.5, max_memory_bytes = 5000000000, log_entries = 7,
              logs_truncated = true, attempt = 3
            where id = :id returning executor_job_id)
          update executor_job j set schedule_id = 'sched_1', scheduled_time = created_at, payload = '{"n":', payload_file_id = :payloadFile,
            priority = -5, concurrency_key = 'key', batch_id = j.id, parent_id = 'xjob_1', reason = 'exception', message = 'It failed.',
            attempts = 3
          from changed where j.id = changed.executor_job_id""");

  @Inject Database database;
  @Inject ExecutorJobAnswers answers;
  @Inject LargeValues values;
  @Inject Files files;

  private HistoryRows rows;
  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    rows = new HistoryRows(database);
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"\"}").get("id");
  }

  private static final Set<String> OF_OPEN_JOBS = Set.of("waitingOn", "nextAttemptAt", "resumeAt");

  private Optional<ExecutorJob.View> ended(String jobId) {
    return database.once(connection -> ExecutorJob.ended(connection, jobId));
  }

  private String stored(String json) {
    return files.store("value.json", "application/json", json.getBytes(StandardCharsets.UTF_8));
  }

  private String jobOf(String executionId) {
    assertEquals(1, (int) database.once(END.with("id", executionId)::update));
    return api.get("/v1/executions/" + executionId).get("executor_job_id");
  }

  @Test
  void itsFieldsAreTheSame() throws ReflectiveOperationException {
    String execution = rows.execution(agent, "failed", "exception", Instant.now());
    Sql.Bound fill =
        FILL.with("id", execution)
            .with("valueFile", stored("[1.10]"))
            .with("payloadFile", stored("{\"n\": 1e400}"));
    assertEquals(1, (int) database.once(fill::update));
    String job = jobOf(execution);
    ExecutorJob.View view = ended(job).orElseThrow();
    assertEquals(answers.now(job), values.whole(view));
    for (RecordComponent field : ExecutorJob.View.class.getRecordComponents()) {
      if (!OF_OPEN_JOBS.contains(field.getName())) {
        assertNotNull(field.getAccessor().invoke(view), field.getName());
      }
    }
    assertEquals(5_000_000_000L, view.execution().usage().maxMemoryBytes());
  }

  @Test
  void emptyFieldsAreTheSame() {
    String job = jobOf(rows.execution(agent, "succeeded", null, Instant.now()));
    assertEquals(Optional.of(answers.now(job)), ended(job));
  }

  @Test
  void aJobThatNeverStartedHasNoExecution() {
    String job = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    assertTrue(ended(job).isEmpty(), "it is queued");
    assertEquals(200, api.post("/v1/executor-jobs/" + job + "/cancel", "").status());
    assertEquals(Optional.of(answers.now(job)), ended(job));
    assertTrue(ended("xjob_none").isEmpty());
  }
}
