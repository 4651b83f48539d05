package dev.roost.issue;

import dev.roost.agent.Agent;
import dev.roost.api.Text;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.execution.JobCopies;
import dev.roost.state.ExecutorJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * Runs the jobs of an issue again. A job and all that ran it again are a chain with one root; the
 * newest job of the chain says what has become of it. So a job isn't run twice, whichever issue its
 * attempts belong to.
 */
@ApplicationScoped
class Replays {
  /** At most how many jobs one request submits. */
  static final int MOST = 1_000;

  private static final Sql NEWEST =
      Sql.of(
          """
          with affected as (
            select distinct x.executor_job_id as id from issue_execution x
            where x.issue_id = :issue and (:all or x.executor_job_id = any(:jobs))
              and x.finished_at >= coalesce(cast(:since as timestamptz), '-infinity')
              and x.finished_at < coalesce(cast(:until as timestamptz), 'infinity')),
          root as (
            select distinct coalesce(r.root_id, a.id) as id
            from affected a left join issue_replay r on r.executor_job_id = a.id),
          newest as (
            select root.id as root, coalesce(
              (select max(r.executor_job_id) from issue_replay r where r.root_id = root.id), root.id) as id
            from root)
          select newest.root, j.id, j.state from newest join executor_job j on j.id = newest.id order by j.id""");

  private static final Sql RECORD =
      Sql.of(
          """
          insert into issue_replay (executor_job_id, source_id, root_id)
          select * from unnest(:ids, :sources, :roots)""");

  private static final Sql SOURCES =
      Sql.of(
          """
          select r.executor_job_id, r.source_id from issue_replay r where r.executor_job_id = any(:ids)
          order by r.executor_job_id""");

  private final EntityManager entities;
  private final JobCopies copies;

  Replays(EntityManager entities, JobCopies copies) {
    this.entities = entities;
    this.copies = copies;
  }

  /**
   * What to run again.
   *
   * @param jobs only these jobs; empty: all of the issue
   * @param since only failures that ended at this time or later; or null
   * @param until only failures that ended before this time; or null
   * @param succeededToo also jobs that have succeeded since
   */
  record Selection(
      List<String> jobs, Instant since, Instant until, boolean succeededToo, int limit) {
    private byte[] digest(String issueId) {
      return Text.sha256("replay " + issueId + " " + this);
    }
  }

  /** The answer to a request. */
  @Schema(name = "IssueReplay")
  record View(
      @Schema(description = "Whether nothing was submitted, because preview was set")
          boolean preview,
      @Schema(description = "The number of jobs that were submitted again, or would be") int count,
      @Schema(description = "The number of jobs that have succeeded since, and were left out")
          int succeeded,
      @Schema(description = "The number of jobs that are queued or running again already")
          int pending,
      @Schema(description = "The number of jobs that were cancelled, and were left out")
          int cancelled,
      @Schema(description = "Whether more jobs remain, beyond the limit") boolean more,
      @Schema(
              nullable = true,
              description = "The batch_id of the new jobs; null if none was submitted")
          String batchId,
      @Schema(description = "The jobs, oldest first") List<Item> jobs) {
    boolean hasSubmitted() {
      return batchId != null;
    }
  }

  /** A job that runs again. */
  @Schema(name = "ReplayedJob")
  record Item(
      @Schema(description = "The job whose payload is run") String executorJobId,
      @Schema(nullable = true, description = "The new job; null in a preview") String replayedAs) {}

  /**
   * @param repeated whether an earlier request with the same Idempotency-Key submitted the jobs
   */
  record Answer(View view, boolean repeated) {}

  private record Job(String root, String id, ExecutorJobState state) {
    boolean isCancelledReplay() {
      return state == ExecutorJobState.CANCELLED && !id.equals(root);
    }

    boolean isDue(boolean succeededToo) {
      return state == ExecutorJobState.FAILED
          || isCancelledReplay()
          || (succeededToo && state == ExecutorJobState.SUCCEEDED);
    }
  }

  /** What a replay would submit. */
  View preview(Issue issue, Selection selection) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              List<Job> jobs = newest(issue, selection);
              List<Job> due = due(jobs, selection);
              List<Item> items = due.stream().map(job -> new Item(job.id(), null)).toList();
              return view(true, jobs, selection, null, items);
            });
  }

  /**
   * Submits the jobs, all or none.
   *
   * @param idempotencyKey or null
   * @param trace or null
   * @throws dev.roost.api.Problem not_found for a deleted agent, queue_full, storage_full,
   *     idempotency_key_reused
   */
  Answer submit(Issue issue, Selection selection, String idempotencyKey, String trace) {
    record Result(Answer answer, Optional<JobCopies.Copies> submitted) {}
    byte[] digest = selection.digest(issue.id());
    Result result =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  // Others that replay jobs of the agent wait, and see the jobs of this one.
                  Agent.lock(issue.agentId());
                  Optional<JobCopies.Copies> earlier =
                      copies.earlier(issue.agentId(), idempotencyKey, digest);
                  if (earlier.isPresent()) {
                    return new Result(new Answer(again(earlier.get()), true), Optional.empty());
                  }
                  List<Job> jobs = newest(issue, selection);
                  List<Job> due = due(jobs, selection);
                  if (due.isEmpty()) {
                    View view = view(false, jobs, selection, null, List.of());
                    return new Result(new Answer(view, false), Optional.empty());
                  }
                  List<String> sources = due.stream().map(Job::id).toList();
                  JobCopies.Copies made =
                      copies.submit(issue.agentId(), sources, idempotencyKey, digest, trace);
                  record(made, due);
                  List<Item> items =
                      IntStream.range(0, due.size())
                          .mapToObj(i -> new Item(sources.get(i), made.ids().get(i)))
                          .toList();
                  View view = view(false, jobs, selection, made.batchId(), items);
                  return new Result(new Answer(view, false), Optional.of(made));
                });
    result.submitted().ifPresent(made -> copies.announce(issue.agentId(), made));
    return result.answer();
  }

  private List<Job> newest(Issue issue, Selection selection) {
    return NEWEST
        .with("issue", issue.id())
        .with("all", selection.jobs().isEmpty())
        .with("jobs", selection.jobs().toArray(String[]::new))
        .with("since", selection.since())
        .with("until", selection.until())
        .list(
            entities,
            row ->
                new Job(
                    row.getString("root"),
                    row.getString("id"),
                    Code.parse(ExecutorJobState.class, row.getString("state"))));
  }

  private static List<Job> due(List<Job> jobs, Selection selection) {
    return jobs.stream()
        .filter(job -> job.isDue(selection.succeededToo()))
        .limit(selection.limit())
        .toList();
  }

  private static View view(
      boolean preview, List<Job> jobs, Selection selection, String batchId, List<Item> items) {
    int due = 0;
    int succeeded = 0;
    int pending = 0;
    int cancelled = 0;
    for (Job job : jobs) {
      if (job.isDue(selection.succeededToo())) {
        due++;
      } else {
        switch (job.state()) {
          case SUCCEEDED -> succeeded++;
          case QUEUED, RUNNING -> pending++;
          case CANCELLED, FAILED -> cancelled++;
        }
      }
    }
    return new View(
        preview, items.size(), succeeded, pending, cancelled, due > items.size(), batchId, items);
  }

  /** The answer to a repeated request names the same jobs. */
  private View again(JobCopies.Copies made) {
    List<Item> items = new ArrayList<>();
    SOURCES
        .with("ids", made.ids().toArray(String[]::new))
        .list(
            entities,
            row ->
                items.add(new Item(row.getString("source_id"), row.getString("executor_job_id"))));
    return new View(false, items.size(), 0, 0, 0, false, made.batchId(), items);
  }

  private void record(JobCopies.Copies made, List<Job> due) {
    RECORD
        .with("ids", made.ids().toArray(String[]::new))
        .with("sources", due.stream().map(Job::id).toArray(String[]::new))
        .with("roots", due.stream().map(Job::root).toArray(String[]::new))
        .update(entities);
  }
}
