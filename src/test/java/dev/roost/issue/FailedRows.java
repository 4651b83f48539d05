package dev.roost.issue;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.api.Ids;
import dev.roost.db.Database;
import dev.roost.executor.Rows;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Failed executions of one agent, as they are stored. */
public final class FailedRows {
  private final Rows rows;
  private final Api api;
  public final String agent;

  public FailedRows(Database database, Api api) {
    this.rows = new Rows(database);
    this.api = api;
    this.agent = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
  }

  /** An attempt at a new job that failed, in the function {@code total}. */
  public Failed fail(String message) {
    return fail(message, 1, Instant.now());
  }

  public Failed fail(String message, int revision, Instant endedAt) {
    return fail(job(revision), message, revision, endedAt);
  }

  /** An attempt at a draft that failed. */
  Failed failDraft(String message) {
    return fail(job(1), message, 1, Instant.now(), true);
  }

  /** An attempt at that job that failed now. */
  public Failed fail(String job, String message, int revision, Instant endedAt) {
    return fail(job, message, revision, endedAt, false);
  }

  private Failed fail(String job, String message, int revision, Instant endedAt, boolean draft) {
    String id = Ids.next("exec");
    String error =
        """
        {"type": "ValueError", "message": "%s", "line": 3,
         "traceback": "  File \\"agent.py\\", line 3, in total\\n    x"}"""
            .formatted(message);
    rows.run(
        """
        insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
          reason, message, error, started_at, finished_at, cold_start, queued_seconds, draft)
        values (?, ?, ?, ?, '', ?, 1, 'failed', 'exception', ?, ?, ?, ?, false, 0, ?)""",
        id,
        job,
        agent,
        revision,
        id,
        "ValueError: " + message,
        error,
        endedAt.minusMillis(1),
        endedAt,
        draft);
    rows.run("update executor_job set state = 'failed' where id = ?", job);
    return new Failed(id, job);
  }

  public record Failed(String execution, String job) {}

  private String job(int revision) {
    String id = Ids.next("xjob");
    rows.run(
        """
        insert into executor_job (id, agent_id, agent_revision, payload, state, reason, priority, concurrency_key,
          created_at, finished_at)
        values (?, ?, ?, '{"price": 1.10}', 'failed', 'exception', 7, 'k', now(), now())""",
        id,
        agent,
        revision);
    return id;
  }

  void end(String job, String state) {
    rows.run("update executor_job set state = ?, finished_at = now() where id = ?", state, job);
  }

  public Rows rows() {
    return rows;
  }

  /** The issue of that execution, as soon as it is grouped. */
  public String issueOf(Failed failed) {
    String list = "/v1/issues?execution_id=" + failed.execution();
    Await.until(
        "the failure is grouped",
        Duration.ofSeconds(30),
        () -> api.get(list).<List<String>>get("data.id").size() == 1);
    return api.get(list).get("data[0].id");
  }
}
