package dev.roost.execution;

import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** The steps of a job. */
@Path("/v1/executor-jobs/{id}/steps")
@Tag(name = "Executions")
@Blocking
public class JobStepsResource {
  private static final String KIND = "step";

  private static final Sql SIZES =
      Sql.of(
          """
          select s.seq as id, coalesce(octet_length(s.result), 0) + coalesce(octet_length(s.error_traceback), 0) as bytes
          from executor_job_step s where s.executor_job_id = :job and s.seq > :after order by s.seq limit :most""");

  private static final Sql ROWS =
      Sql.of(
          "select "
              + JobStep.COLUMNS
              + " from executor_job_step s where s.executor_job_id = :job and s.seq > :after and s.seq <= :last "
              + "order by s.seq");

  private final EntityManager entities;

  JobStepsResource(EntityManager entities) {
    this.entities = entities;
  }

  @GET
  @Transactional
  @Operation(
      operationId = "listExecutorJobSteps",
      summary = "List the steps of an ExecutorJob",
      description =
          "The steps that the script's request.step has run, in the order in which they ended. While the "
              + "job has not ended, further steps may follow.")
  public Page<JobStep> list(String id, @RestQuery String cursor, @RestQuery Integer limit) {
    int most = Page.limit(limit);
    Long given = Cursor.number(KIND, cursor);
    int after = given == null ? 0 : (int) Math.min(given, Integer.MAX_VALUE);
    if (ExecutorJob.findByIdOptional(id).isEmpty()) {
      throw Problem.notFound("ExecutorJob", id);
    }
    List<Page.Sized> sizes =
        SIZES
            .with("job", id)
            .with("after", after)
            .with("most", most + 1)
            .list(entities, Page.Sized::of);
    Page<JobStep> page = Page.fitting(sizes, most, numbers -> rows(id, after, numbers));
    return page.nextCursor() == null
        ? page
        : new Page<>(page.data(), Cursor.of(KIND, page.nextCursor()));
  }

  /**
   * @param numbers those that follow {@code after}
   */
  private List<JobStep> rows(String id, int after, List<String> numbers) {
    return ROWS.with("job", id)
        .with("after", after)
        .with("last", Integer.valueOf(numbers.get(numbers.size() - 1)))
        .list(entities, JobStep::read);
  }
}
