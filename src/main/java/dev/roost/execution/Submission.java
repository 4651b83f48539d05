package dev.roost.execution;

import dev.roost.api.Problem;
import dev.roost.db.Sql;
import jakarta.persistence.EntityManager;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How the job of an Execution was submitted, in short: for lists. */
@Schema(name = "Submission")
public record Submission(
    @Schema(nullable = true, description = "The schedule that submitted the job; null for none")
        String scheduleId,
    @Schema(
            nullable = true,
            description = "The schedule's current name; null if there is none or it was deleted")
        String scheduleName,
    @Schema(
            nullable = true,
            description = "The identifier of the batch; null if the job is not part of a batch")
        String batchId,
    @Schema(
            nullable = true,
            description =
                "The beginning of the payload's text, at most 200 characters; null if there is no payload")
        String payloadPreview) {
  private static final String INCLUDE = "submission";
  private static final int PREVIEW_CHARACTERS = 200;

  private static final Sql OF_EXECUTIONS =
      Sql.of(
          """
          select e.id, j.schedule_id, s.name as schedule_name, j.batch_id, left(j.payload, :most) as preview
          from execution e join executor_job j on j.id = e.executor_job_id
          left join schedule s on s.id = j.schedule_id
          where e.id = any(:ids)
          """);

  /**
   * Those of Executions, by their identifiers; empty unless they are included.
   *
   * @param include the query parameter, or null
   * @throws Problem validation_failed
   */
  static Map<String, Submission> of(
      EntityManager entities, List<String> executionIds, String include) {
    Map<String, Submission> submissions = new HashMap<>();
    if (include == null) {
      return submissions;
    }
    if (!include.equals(INCLUDE)) {
      throw Problem.invalid("?include", "not_a_choice", "include must be " + INCLUDE + ".");
    }
    OF_EXECUTIONS
        .with("ids", executionIds.toArray(String[]::new))
        .with("most", PREVIEW_CHARACTERS)
        .list(
            entities,
            row ->
                submissions.put(
                    row.getString("id"),
                    new Submission(
                        row.getString("schedule_id"),
                        row.getString("schedule_name"),
                        row.getString("batch_id"),
                        row.getString("preview"))));
    return submissions;
  }
}
