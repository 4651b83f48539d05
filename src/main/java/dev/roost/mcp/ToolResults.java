package dev.roost.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.OfferedTool;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.execution.Execution;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.JobFilesResource;
import dev.roost.file.StoredFile;
import dev.roost.state.ExecutorJobState;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.stream.Collectors;

/** What a call of a tool results in: the return value of an agent, or why there is none. */
@ApplicationScoped
class ToolResults {
  static final String JOB = "dev.roost/executor_job_id";
  private static final String EXECUTION = "dev.roost/execution_id";
  private static final int MOST_FILES = 100;

  private final JobFilesResource files;

  ToolResults(JobFilesResource files) {
    this.files = files;
  }

  /** Of a job that has ended. Files that its script has made follow as links to resources. */
  ObjectNode of(ExecutorJob.View job, OfferedTool tool, Peer peer) {
    ObjectNode result =
        job.state() == ExecutorJobState.SUCCEEDED
            ? success(job.execution(), tool, peer)
            : failure(explanation(job));
    ObjectNode meta = result.putObject("_meta").put(JOB, job.id());
    if (job.execution() != null) {
      meta.put(EXECUTION, job.execution().id());
      addFiles(result.withArray("content"), job.id());
    }
    return result;
  }

  private static ObjectNode success(Execution.View execution, OfferedTool tool, Peer peer) {
    JsonText value =
        execution.returnValue() == null ? new JsonText("null") : execution.returnValue();
    List<Problem.FieldError> mistakes = tool.mistakes(value);
    if (!mistakes.isEmpty()) {
      String list =
          mistakes.stream()
              .map(mistake -> mistake.pointer() + ": " + mistake.detail())
              .collect(Collectors.joining("\n"));
      return failure(
          "The return value does not match the agent's output_schema:\n%s\n\n%s"
              .formatted(list, value.text()));
    }
    boolean isText = value.text().startsWith("\"");
    ObjectNode result = text(isText ? RpcMessage.tree(value).textValue() : value.text());
    if (value.text().startsWith("{") || peer.isStateless() && tool.outputSchema() != null) {
      result.putRawValue("structuredContent", RpcMessage.raw(value));
    }
    return result;
  }

  private static String explanation(ExecutorJob.View job) {
    if (job.state() == ExecutorJobState.CANCELLED) {
      return "The execution was cancelled.";
    }
    JsonText error = job.execution() == null ? null : job.execution().error();
    if (error == null) {
      return job.message() == null ? "The execution has failed." : job.message();
    }
    JsonNode parts = RpcMessage.tree(error);
    String traceback = parts.path("traceback").asText("");
    String title = parts.path("type").asText() + ": " + parts.path("message").asText();
    return traceback.isEmpty() ? title : title + "\n\n" + traceback;
  }

  private void addFiles(ArrayNode content, String jobId) {
    for (JobFilesResource.View each : files.list(jobId, null, MOST_FILES).data()) {
      if (each.kind().equals("artifact")) {
        StoredFile.View file = each.file();
        content
            .addObject()
            .put("type", "resource_link")
            .put("uri", Resources.FILE + file.id())
            .put("name", each.name())
            .put("mimeType", file.contentType())
            .put("size", file.sizeBytes());
      }
    }
  }

  static ObjectNode text(String text) {
    ObjectNode result = RpcMessage.object();
    result.putArray("content").addObject().put("type", "text").put("text", text);
    return result;
  }

  /** An error that the model can do something about. */
  static ObjectNode failure(String text) {
    return text(text).put("isError", true);
  }

  /**
   * A problem of the REST API, with all its mistakes.
   *
   * @param payload what the pointers of the mistakes begin with, if clients know the payload by
   *     another name; or empty
   */
  static ObjectNode failure(Problem problem, String payload) {
    if (problem.errors().isEmpty()) {
      return failure(problem.getMessage());
    }
    return failure(
        problem.errors().stream()
            .map(error -> RpcMessage.within(error.pointer(), payload) + ": " + error.detail())
            .collect(Collectors.joining("\n")));
  }
}
