package dev.roost.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.agent.OfferedTool;
import dev.roost.api.Caller;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.execution.Approvals;
import dev.roost.execution.ExecuteResource;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.ExecutorJobAnswers;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.Options;
import dev.roost.execution.StreamAnswers;
import dev.roost.trace.Traces;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/** Calls of agents: each is an ExecutorJob, which any replica follows. */
@ApplicationScoped
class Calls {
  /** So long is a result waited for before the client gets a task instead. */
  private static final Duration BEFORE_TASK = Duration.ofSeconds(1);

  private final ExecutorJobs jobs;
  private final ExecutorJobAnswers answers;
  private final StreamAnswers streams;
  private final Approvals approvals;
  private final ToolResults results;
  private final OfferedTools tools;
  private final Signals signals;
  private final RoostConfig config;
  private final Traces traces;
  private final Caller caller;

  Calls(
      ExecutorJobs jobs,
      ExecutorJobAnswers answers,
      StreamAnswers streams,
      Approvals approvals,
      ToolResults results,
      OfferedTools tools,
      Signals signals,
      RoostConfig config,
      Traces traces,
      Caller caller) {
    this.jobs = jobs;
    this.answers = answers;
    this.streams = streams;
    this.approvals = approvals;
    this.results = results;
    this.tools = tools;
    this.signals = signals;
    this.config = config;
    this.traces = traces;
    this.caller = caller;
  }

  /**
   * Executes an agent. What is wrong with the payload is a result, so that a model can call again.
   *
   * @param payload or null
   * @param traceParent the header, or null
   */
  Uni<Reply> begin(
      Peer peer, RpcMessage message, OfferedTool tool, JsonText payload, String traceParent) {
    String jobId;
    try {
      if (payload != null) {
        ExecuteResource.checkSize("arguments", Text.sizeBytes(payload.text()), config);
      }
      String trace = traces.parent(traceParent);
      jobId = jobs.submit(tool.agentId(), payload, Options.NONE, null, trace).executorJobId();
    } catch (Problem e) {
      String prefix = tool.takesObject() ? "/payload" : "";
      return Uni.createFrom().item(new Reply.Result(peer.complete(ToolResults.failure(e, prefix))));
    }
    if (peer.hasTasksOnRequest() && message.params().path("task").isObject()) {
      return Uni.createFrom().item(new Reply.Result(Tasks.begun(answers.now(jobId), peer)));
    }
    if (peer.hasTasks()) {
      return answers
          .whenEnded(jobId, BEFORE_TASK)
          .map(
              job ->
                  new Reply.Result(
                      job.finishedAt() != null
                          ? peer.complete(results.of(job, tool, peer))
                          : Tasks.begun(job, peer)));
    }
    try {
      return Uni.createFrom().item(follow(peer, message, tool, jobId, Set.of()));
    } catch (Problem e) {
      jobs.cancel(jobId);
      throw e;
    }
  }

  /**
   * Goes on with a call whose client was asked something.
   *
   * @throws RpcError the state is not one of a call of this tool, or an answer has mistakes
   */
  Reply continued(Peer peer, RpcMessage message, OfferedTool tool) {
    String jobId = message.text("requestState");
    if (!find(jobId).agentId().equals(tool.agentId())) {
      throw RpcError.invalidParams("requestState is not one of a call of this tool.");
    }
    JsonNode responses = message.params().path("inputResponses");
    decide(jobId, responses);
    Set<String> answered = new HashSet<>();
    responses.fieldNames().forEachRemaining(answered::add);
    return follow(peer, message, tool, jobId, answered);
  }

  /**
   * Decides what a job has asked.
   *
   * @param responses by the identifiers of the approvals
   */
  void decide(String jobId, JsonNode responses) {
    for (Map.Entry<String, JsonNode> response : responses.properties()) {
      String approvalId = response.getKey();
      try {
        if (approvals.find(approvalId).executorJobId().equals(jobId)) {
          Elicitation.decide(approvals, approvalId, response.getValue(), caller.keyName());
        }
      } catch (Problem e) {
        throw RpcMessage.of(e);
      }
    }
  }

  /**
   * @throws RpcError there is no such job
   */
  ExecutorJob.View find(String jobId) {
    try {
      return answers.now(jobId);
    } catch (Problem e) {
      throw RpcMessage.of(e);
    }
  }

  /**
   * What happens with a job, until its result.
   *
   * @param answered the questions that the client has had already
   * @throws Problem rate_limited
   */
  Reply follow(
      Peer peer, RpcMessage message, OfferedTool tool, String jobId, Set<String> answered) {
    boolean isTask = message.method().equals(Tasks.RESULT);
    CallListener listener =
        new CallListener(peer, message.id(), tool, jobId, results, answered, isTask);
    return new Reply.Stream(follow(listener));
  }

  /**
   * The rest of a stream, after a lost connection.
   *
   * @throws Problem not_found, rate_limited
   */
  Multi<Reply.Event> resumed(Peer peer, CallListener.Resumption from) {
    Peer asBefore = peer.withProgress(from.progressToken());
    OfferedTool tool = tools.ofJob(find(from.jobId()));
    CallListener listener =
        new CallListener(
            asBefore, from.requestId(), tool, from.jobId(), results, Set.of(), from.isTask());
    return follow(listener.after(from.place()));
  }

  private Multi<Reply.Event> follow(CallListener listener) {
    AtomicBoolean hadLast = new AtomicBoolean();
    Multi<Reply.Event> happening =
        streams
            .follow(listener.jobId(), listener.place(), listener)
            // Of what happened at the same time, nothing follows the last event.
            .select()
            .first(event -> !hadLast.getAndSet(event.isLast()));
    Multi<Reply.Event> events =
        Multi.createBy()
            .concatenating()
            .streams(Multi.createFrom().item(listener.first()), happening);
    Peer peer = listener.peer();
    if (peer.isStateless()) {
      // Such a client closes the connection to cancel. With the last event, it closes it anyway.
      return events
          .onCancellation()
          .invoke(
              () -> {
                if (!hadLast.get()) {
                  cancel(listener.jobId());
                }
              });
    }
    CompletableFuture<Void> cancelled = signals.next(topic(peer, listener.requestId()));
    cancelled.thenRun(() -> cancel(listener.jobId()));
    return events.onTermination().invoke(() -> cancelled.cancel(false));
  }

  private void cancel(String jobId) {
    Infrastructure.getDefaultWorkerPool().execute(() -> jobs.cancel(jobId));
  }

  /** A client with a session cancels a call. */
  void cancelled(Peer peer, JsonText requestId) {
    signals.fire(topic(peer, requestId));
  }

  /** Of the same client and request alone, and not longer than a signal may be. */
  private static String topic(Peer peer, JsonText requestId) {
    return "mcp/" + HexFormat.of().formatHex(Text.sha256(peer.session() + " " + requestId.text()));
  }
}
