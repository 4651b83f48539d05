package dev.roost.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.execution.Approval;
import dev.roost.execution.Approvals;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.ExecutorJobs;
import dev.roost.state.ExecutorJobState;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Set;

/**
 * Calls whose results are asked for later. A task is an ExecutorJob, so it outlives connections,
 * replicas and restarts, and any replica tells its state.
 */
@ApplicationScoped
class Tasks {
  static final String RESULT = "tasks/result";
  private static final int POLL_MILLIS = 1_000;
  private static final int MOST_QUESTIONS = 50;
  private static final String RELATED = "io.modelcontextprotocol/related-task";

  private final Calls calls;
  private final OfferedTools tools;
  private final ToolResults results;
  private final ExecutorJobs jobs;
  private final Approvals approvals;

  Tasks(
      Calls calls,
      OfferedTools tools,
      ToolResults results,
      ExecutorJobs jobs,
      Approvals approvals) {
    this.calls = calls;
    this.tools = tools;
    this.results = results;
    this.jobs = jobs;
    this.approvals = approvals;
  }

  /** What a call results in that has become a task. */
  static ObjectNode begun(ExecutorJob.View job, Peer peer) {
    ObjectNode task =
        task(job, job.finishedAt() == null ? TaskStatus.WORKING : statusAtEnd(job, peer), peer);
    if (peer.isStateless()) {
      return peer.complete(task).put("resultType", "task");
    }
    ObjectNode result = RpcMessage.object();
    result.set("task", task);
    return result;
  }

  private static ObjectNode task(ExecutorJob.View job, TaskStatus status, Peer peer) {
    ObjectNode task = RpcMessage.object().put("taskId", job.id()).put("status", status.code());
    if (job.message() != null) {
      task.put("statusMessage", job.message());
    }
    task.put("createdAt", job.createdAt().toString());
    task.put("lastUpdatedAt", updatedAt(job));
    // Kept as long as the history of executions, which the task doesn't shorten.
    task.putNull(peer.isStateless() ? "ttlMs" : "ttl");
    return task.put(peer.isStateless() ? "pollIntervalMs" : "pollInterval", POLL_MILLIS);
  }

  private static String updatedAt(ExecutorJob.View job) {
    if (job.finishedAt() != null) {
      return job.finishedAt().toString();
    }
    return (job.execution() == null ? job.createdAt() : job.execution().startedAt()).toString();
  }

  /**
   * A tool that reports an error has failed for clients with sessions, and completed for others.
   */
  private static TaskStatus statusAtEnd(ExecutorJob.View job, Peer peer) {
    if (job.state() == ExecutorJobState.CANCELLED) {
      return TaskStatus.CANCELLED;
    }
    boolean hasFailed = job.state() != ExecutorJobState.SUCCEEDED && !peer.isStateless();
    return hasFailed ? TaskStatus.FAILED : TaskStatus.COMPLETED;
  }

  /**
   * tasks/get: the state, for stateless clients with the questions and the result.
   *
   * @throws RpcError there is no such task; the client has not declared tasks
   */
  ObjectNode get(Peer peer, RpcMessage message) {
    requireTasks(peer);
    ExecutorJob.View job = calls.find(message.text("taskId"));
    if (job.finishedAt() != null) {
      ObjectNode task = task(job, statusAtEnd(job, peer), peer);
      if (peer.isStateless() && job.state() != ExecutorJobState.CANCELLED) {
        ObjectNode result = results.of(job, tools.ofJob(job), peer);
        task.set("result", peer.complete(result));
      }
      return peer.complete(task);
    }
    List<Approval> questions = approvals.pendingOfJob(job.id(), MOST_QUESTIONS);
    // Who shows no forms can't answer: for such a client, the task is at work.
    if (questions.isEmpty() || !peer.elicits() && peer.isStateless()) {
      return peer.complete(task(job, TaskStatus.WORKING, peer));
    }
    ObjectNode task = task(job, TaskStatus.INPUT_REQUIRED, peer);
    if (peer.isStateless()) {
      ObjectNode requests = task.putObject("inputRequests");
      for (Approval question : questions) {
        requests
            .putObject(question.id())
            .put("method", Elicitation.METHOD)
            .set("params", Elicitation.params(question));
      }
    }
    return peer.complete(task);
  }

  /** tasks/result, of clients with sessions: the result, as soon as there is one. */
  Reply result(Peer peer, RpcMessage message) {
    ExecutorJob.View job = calls.find(message.text("taskId"));
    if (job.finishedAt() == null) {
      return calls.follow(peer, message, tools.ofJob(job), job.id(), Set.of());
    }
    ObjectNode result = results.of(job, tools.ofJob(job), peer);
    relate(result, job.id());
    return new Reply.Result(result);
  }

  /** Says which task a result is of. */
  static void relate(ObjectNode result, String taskId) {
    result.withObjectProperty("_meta").putObject(RELATED).put("taskId", taskId);
  }

  /** tasks/update, of stateless clients: answers to what the task asks. */
  ObjectNode update(Peer peer, RpcMessage message) {
    requireTasks(peer);
    ExecutorJob.View job = calls.find(message.text("taskId"));
    calls.decide(job.id(), message.params().path("inputResponses"));
    return peer.complete(RpcMessage.object());
  }

  /**
   * tasks/cancel.
   *
   * @throws RpcError the task of a client with a session has ended
   */
  ObjectNode cancel(Peer peer, RpcMessage message) {
    requireTasks(peer);
    ExecutorJob.View job = calls.find(message.text("taskId"));
    if (!peer.isStateless() && job.finishedAt() != null) {
      throw RpcError.invalidParams(
          "The task has ended: it is " + statusAtEnd(job, peer).code() + ".");
    }
    jobs.cancel(job.id());
    return peer.isStateless()
        ? peer.complete(RpcMessage.object())
        : task(job, TaskStatus.CANCELLED, peer);
  }

  private static void requireTasks(Peer peer) {
    if (peer.isStateless() && !peer.hasTasks()) {
      ObjectNode data = RpcMessage.object();
      data.putObject("requiredCapabilities").putObject("extensions").putObject(Peer.TASKS);
      throw new RpcError(
          RpcError.MISSING_CAPABILITY, "Declare the extension " + Peer.TASKS + ".", data);
    }
  }
}
