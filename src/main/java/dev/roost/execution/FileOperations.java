package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.file.Files;
import dev.roost.file.StoredFile;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The files that scripts read and make, a part at a time; {@code docs/executor-link.md} specifies
 * the operations.
 */
@ApplicationScoped
public class FileOperations {
  private static final List<String> OPERATIONS =
      List.of("read_file", "create_artifact", "artifact_part", "complete_artifact");

  /** Of a job. */
  private static final int MOST_ARTIFACTS = 1_000;

  private static final int MOST_NAME_CHARACTERS = 255;

  /** The file that a job reads by that name; no row: the execution isn't this executor's. */
  private static final Sql INPUT =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + """
               select f.file_id from owner o left join job_file f
                 on f.executor_job_id = o.job and f.kind = 'input' and f.name = :name""");

  private static final Sql COUNT =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + """
               select count(f.name) as artifacts from owner o left join job_file f
                 on f.executor_job_id = o.job and f.kind = 'artifact' and f.name <> :name
               group by o.job""");

  private static final Sql LINK =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + """
              , used as (update file set used_at = now() where id = :file)
              insert into job_file as j (executor_job_id, kind, name, file_id, created_at)
              select o.job, 'artifact', :name, :file, now() from owner o
              on conflict (executor_job_id, kind, name) do update
                set file_id = excluded.file_id, created_at = excluded.created_at""");

  private static final Sql OWNED = Sql.of("with " + JobSteps.OWNER + " select job from owner");

  private final Files files;
  private final Database database;

  FileOperations(Files files, Database database) {
    this.files = files;
    this.database = database;
  }

  /**
   * Runs one operation.
   *
   * @return what the response has
   * @throws Problem validation_failed; fenced: the execution has ended or is another executor's;
   *     too_large; conflict; storage_full; unavailable
   */
  public Object run(String executorId, String executionId, Body body) {
    body.require("op");
    Optional<String> operation = body.choice("op", OPERATIONS);
    if (operation.isEmpty()) {
      body.check();
    }
    return switch (operation.orElseThrow()) {
      case "read_file" -> read(executorId, executionId, body);
      case "create_artifact" -> create(executorId, executionId, body);
      case "artifact_part" -> part(executorId, executionId, body);
      default -> complete(executorId, executionId, body);
    };
  }

  private Object read(String executorId, String executionId, Body body) {
    String name = required(body, "name");
    int part = body.integer("part", 0, Integer.MAX_VALUE).orElse(0);
    body.check();
    Sql.Bound input =
        INPUT.with("execution", executionId).with("executor", executorId).with("name", name);
    String id =
        database
            .once(
                connection ->
                    input.first(connection, row -> Optional.ofNullable(row.getString("file_id"))))
            .orElseThrow(JobSteps::fenced)
            .orElseThrow(() -> unknown(name));
    StoredFile file = files.find(id);
    if (part >= file.parts()) {
      throw Problem.invalid(
          "/part", "out_of_range", "The file has %,d parts.".formatted(file.parts()));
    }
    return Map.of(
        "data",
        Base64.getEncoder().encodeToString(files.read(file, part)),
        "last",
        part == file.parts() - 1);
  }

  private Object create(String executorId, String executionId, Body body) {
    String name = required(body, "name");
    String type = body.string("content_type").orElse(null);
    body.check();
    Sql.Bound count =
        COUNT.with("execution", executionId).with("executor", executorId).with("name", name);
    int others =
        database
            .once(connection -> count.first(connection, row -> row.getInt("artifacts")))
            .orElseThrow(JobSteps::fenced);
    if (others >= MOST_ARTIFACTS) {
      throw Problem.of(
          ErrorCode.TOO_LARGE, "A job can have at most %,d artifacts.".formatted(MOST_ARTIFACTS));
    }
    return Map.of("id", files.begin(name, type, executionId).id());
  }

  private Object part(String executorId, String executionId, Body body) {
    String id = required(body, "id");
    body.require("data");
    String data = body.string("data").orElse("");
    int part = body.integer("part", 0, Integer.MAX_VALUE).orElse(0);
    body.check();
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(data);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid("/data", "malformed", "data must be Base64.");
    }
    Sql.Bound owned = OWNED.with("execution", executionId).with("executor", executorId);
    if (database.once(owned::strings).isEmpty()) {
      throw JobSteps.fenced();
    }
    files.part(id, executionId, part, bytes);
    return Map.of();
  }

  private Object complete(String executorId, String executionId, Body body) {
    String id = required(body, "id");
    String digest = required(body, "sha256");
    long size = body.wholeNumber("size_bytes").orElse(0L);
    body.require("size_bytes");
    body.check();
    StoredFile file = files.complete(id, executionId, size, digest);
    Sql.Bound link =
        LINK.with("execution", executionId)
            .with("executor", executorId)
            .with("name", file.name())
            .with("file", id);
    if (database.once(link::update) == 0) {
      throw JobSteps.fenced();
    }
    return Map.of("id", id);
  }

  private static String required(Body body, String name) {
    body.require(name);
    return JobSteps.text(body, name, MOST_NAME_CHARACTERS).orElse("");
  }

  private static Problem unknown(String name) {
    return Problem.invalid("/name", "not_found", "The job has no file with the name " + name + ".");
  }
}
