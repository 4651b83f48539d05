package dev.roost.execution;

import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import dev.roost.file.StoredFile;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** The files of a job. */
@Path("/v1/executor-jobs/{id}/files")
@Tag(name = "Executions")
@Blocking
public class JobFilesResource {
  private static final String KIND = "jobfile";

  private static final Sql LIST =
      Sql.of(
          "select j.seq, j.kind as job_kind, j.name as job_name, "
              + StoredFile.COLUMNS
              + """
               from job_file j join file f on f.id = j.file_id
              where j.executor_job_id = :job and j.seq > :after order by j.seq limit :most""");

  private final EntityManager entities;

  JobFilesResource(EntityManager entities) {
    this.entities = entities;
  }

  /** A file of a job. */
  @Schema(name = "JobFile")
  public record View(
      @Schema(
              enumeration = {"input", "artifact", "payload", "return_value"},
              description =
                  "input: submitted with the payload. artifact: the script has made it. payload, "
                      + "return_value: the JSON text of one with more than 256 KiB")
          String kind,
      @Schema(description = "The name that the script knows it by", examples = "report")
          String name,
      @Schema(description = "The file itself") StoredFile.View file) {}

  private record Row(long seq, View view) {}

  @GET
  @Transactional
  @Operation(
      operationId = "listExecutorJobFiles",
      summary = "List the files of an ExecutorJob",
      description =
          "Those that were submitted with its payload, the artifacts that its script has made, and a large "
              + "payload and return value, in the order in which the job got them.")
  public Page<View> list(String id, @RestQuery String cursor, @RestQuery Integer limit) {
    int most = Page.limit(limit);
    Long after = Cursor.number(KIND, cursor);
    if (ExecutorJob.findByIdOptional(id).isEmpty()) {
      throw Problem.notFound("ExecutorJob", id);
    }
    List<Row> rows =
        LIST.with("job", id)
            .with("after", after == null ? 0L : after)
            .with("most", most + 1)
            .list(
                entities,
                row ->
                    new Row(
                        row.getLong("seq"),
                        new View(
                            row.getString("job_kind"),
                            row.getString("job_name"),
                            StoredFile.read(row).view())));
    return Page.of(rows, most, row -> Cursor.of(KIND, row.seq()), Row::view);
  }
}
