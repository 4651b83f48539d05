package dev.roost.execution;

import dev.roost.api.Page;
import dev.roost.db.Conditions;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** Pages of jobs in both directions, with the latest attempt of each. */
@ApplicationScoped
public class JobPages {
  private final LargeValues values;

  JobPages(LargeValues values) {
    this.values = values;
  }

  /**
   * Selects jobs; null: no filter.
   *
   * @param scheduled whether a schedule has submitted them
   */
  public record Selection(String jobId, String agentId, String scheduleId, Boolean scheduled) {
    Conditions conditions() {
      return new Conditions()
          .and("j.id = :job", "job", jobId)
          .and("j.agent_id = :agent", "agent", agentId)
          .and("j.schedule_id = :schedule", "schedule", scheduleId)
          .and("(j.schedule_id is not null) = :scheduled", "scheduled", scheduled);
    }
  }

  /**
   * A job, detached.
   *
   * @param latest the latest attempt, with its whole return value; null: none has begun
   */
  public record Run(ExecutorJob job, Execution.View latest) {}

  /**
   * @param runs newest first
   * @param more whether there are others in the direction of the page
   */
  public record Part(List<Run> runs, boolean more) {}

  /**
   * @param before the identifier of a job; null: from the newest
   */
  public Part older(Selection selection, String before, int limit) {
    Conditions conditions = selection.conditions().and("j.id < :cursor", "cursor", before);
    return part(conditions, true, limit);
  }

  /** Those before {@link #older} in the list, which are next to that job. */
  public Part newer(Selection selection, String after, int limit) {
    Part part = part(selection.conditions().and("j.id > :cursor", "cursor", after), false, limit);
    List<Run> runs = new ArrayList<>(part.runs());
    Collections.reverse(runs);
    return new Part(runs, part.more());
  }

  /** Empty: there is no such job. */
  public Optional<Run> find(String id) {
    return whole(QuarkusTransaction.requiringNew().call(() -> runs(List.of(id)))).stream()
        .findFirst();
  }

  private Part part(Conditions conditions, boolean newestFirst, int limit) {
    Page<Run> page =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    Page.fitting(
                        conditions
                            .bind(listing(conditions, newestFirst))
                            .with("most", limit + 1)
                            .list(ExecutorJob.getEntityManager(), Page.Sized::of),
                        limit,
                        JobPages::runs));
    return new Part(whole(page.data()), page.nextCursor() != null);
  }

  private static String listing(Conditions conditions, boolean newestFirst) {
    return """
        select j.id, coalesce(octet_length(j.payload), 0) + %s as bytes
        from executor_job j left join execution e on e.id = j.latest_execution_id
        where %s order by j.id %s limit :most"""
        .formatted(
            LargeValues.size("e.return_value"), conditions.text(), newestFirst ? "desc" : "asc");
  }

  private static List<Run> runs(List<String> ids) {
    Map<String, ExecutorJob> jobs =
        ExecutorJob.<ExecutorJob>list("id in ?1", ids).stream()
            .collect(Collectors.toMap(job -> job.id, job -> job));
    List<String> latest =
        jobs.values().stream().map(job -> job.latestExecutionId).filter(Objects::nonNull).toList();
    Map<String, Execution> executions =
        Execution.<Execution>list("id in ?1", latest).stream()
            .collect(Collectors.toMap(execution -> execution.id, execution -> execution));
    return ids.stream()
        .map(jobs::get)
        .filter(Objects::nonNull)
        .map(job -> new Run(job, view(executions.get(job.latestExecutionId))))
        .toList();
  }

  private static Execution.View view(Execution execution) {
    return execution == null ? null : Execution.View.of(execution);
  }

  /** After the transaction: files may be read. */
  private List<Run> whole(List<Run> runs) {
    return runs.stream()
        .map(run -> run.latest() == null ? run : new Run(run.job(), values.whole(run.latest())))
        .toList();
  }
}
