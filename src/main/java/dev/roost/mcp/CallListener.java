package dev.roost.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.OfferedTool;
import dev.roost.api.JsonText;
import dev.roost.execution.Approval;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.JobListener;
import dev.roost.execution.ScriptProgress;
import dev.roost.log.LogEntry;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;

/** Tells a client what happens with its call: progress, values, questions, logs, the result. */
final class CallListener implements JobListener.OfCall<Reply.Event> {
  private final Peer peer;
  private final JsonText requestId;
  private final OfferedTool tool;
  private final String jobId;
  private final ToolResults results;
  private final Set<String> answered;
  private final boolean isTask;

  /** The values that the client has; where it goes on after a lost connection. */
  private String place;

  private double shown;

  /**
   * @param answered the questions that the client has had already
   * @param isTask whether the client asks for the result of a task
   */
  CallListener(
      Peer peer,
      JsonText requestId,
      OfferedTool tool,
      String jobId,
      ToolResults results,
      Set<String> answered,
      boolean isTask) {
    this.peer = peer;
    this.requestId = requestId;
    this.tool = tool;
    this.jobId = jobId;
    this.results = results;
    this.answered = answered;
    this.isTask = isTask;
  }

  /** Goes on after the values that the client has. */
  CallListener after(String place) {
    this.place = place;
    return this;
  }

  String place() {
    return place;
  }

  Peer peer() {
    return peer;
  }

  JsonText requestId() {
    return requestId;
  }

  String jobId() {
    return jobId;
  }

  /** Before anything has happened: with it, even the first connection may be lost. */
  Reply.Event first() {
    return peer.readsEmptyEvents() ? new Reply.Event(id(), null, false) : Reply.Event.IDLE;
  }

  private Reply.Event event(byte[] json) {
    return new Reply.Event(id(), json, false);
  }

  private String id() {
    return peer.isStateless()
        ? null
        : new Resumption(jobId, place, requestId, peer.progressToken(), isTask).text();
  }

  @Override
  public Reply.Event value(String place, JsonText json) {
    this.place = place;
    return progress(shown, null, json.text());
  }

  @Override
  public Reply.Event progress(ScriptProgress progress) {
    boolean isKnown = progress.fraction() != null;
    return progress(
        isKnown ? progress.fraction() : shown, isKnown ? 1.0 : null, progress.message());
  }

  /** Progress must grow with each notification, also if the script only says what it does. */
  private Reply.Event progress(double fraction, Double total, String message) {
    if (peer.progressToken() == null) {
      return Reply.Event.IDLE;
    }
    shown = Math.max(fraction, Math.nextUp(shown));
    ObjectNode params = RpcMessage.object();
    params.set("progressToken", peer.progressToken());
    params.put("progress", shown);
    if (total != null) {
      params.put("total", total);
    }
    if (message != null) {
      params.put("message", message);
    }
    return event(RpcMessage.notification("notifications/progress", params));
  }

  @Override
  public Reply.Event restart(int attempt) {
    return progress(shown, null, "Attempt " + attempt);
  }

  @Override
  public Reply.Event asked(Approval approval) {
    if (answered.contains(approval.id()) || !peer.elicits()) {
      return progress(shown, null, "Waits for an approval: " + approval.title());
    }
    ObjectNode params = Elicitation.params(approval);
    if (!peer.isStateless()) {
      return event(RpcMessage.request(approval.id(), Elicitation.METHOD, params));
    }
    ObjectNode result = RpcMessage.object().put("resultType", "input_required");
    ObjectNode request = result.putObject("inputRequests").putObject(approval.id());
    request.put("method", Elicitation.METHOD).set("params", params);
    result.put("requestState", jobId);
    return new Reply.Event(null, RpcMessage.response(requestId, result), true);
  }

  @Override
  public boolean wantsLog() {
    return peer.logLevel() != null;
  }

  @Override
  public Reply.Event line(LogEntry line) {
    LogLevel level = LogLevel.ofLine(line.level());
    if (!level.isAtLeast(peer.logLevel())) {
      return Reply.Event.IDLE;
    }
    ObjectNode params = RpcMessage.object().put("level", level.code());
    params.put("logger", line.logger() == null ? line.stream() : line.logger());
    params.put("data", line.message());
    return event(RpcMessage.notification("notifications/message", params));
  }

  @Override
  public Reply.Event end(Object resource) {
    ObjectNode result = results.of((ExecutorJob.View) resource, tool, peer);
    if (isTask) {
      Tasks.relate(result, jobId);
    }
    return new Reply.Event(id(), RpcMessage.response(requestId, peer.complete(result)), true);
  }

  @Override
  public Reply.Event idle() {
    return Reply.Event.IDLE;
  }

  /**
   * Where a client is in a stream: the identifier of an event. It has everything that a replica
   * needs to go on.
   *
   * @param place of the last value; null: none
   * @param requestId that the result will have
   * @param progressToken or null
   * @param isTask whether the result is that of a task
   */
  record Resumption(
      String jobId, String place, JsonText requestId, JsonNode progressToken, boolean isTask) {
    String text() {
      ObjectNode node = RpcMessage.object().put("job", jobId).put("task", isTask);
      if (place != null) {
        node.put("place", place);
      }
      node.putRawValue("id", RpcMessage.raw(requestId));
      if (progressToken != null) {
        node.set("token", progressToken);
      }
      return Base64.getUrlEncoder().withoutPadding().encodeToString(RpcMessage.bytes(node));
    }

    /**
     * @throws RpcError the text is none of these
     */
    static Resumption of(String text) {
      try {
        byte[] json = Base64.getUrlDecoder().decode(text);
        JsonNode node = RpcMessage.tree(new JsonText(new String(json, StandardCharsets.UTF_8)));
        if (node.path("job").isTextual() && node.has("id")) {
          return new Resumption(
              node.get("job").textValue(),
              node.path("place").textValue(),
              new JsonText(node.get("id").toString()),
              node.get("token"),
              node.path("task").asBoolean());
        }
      } catch (IllegalArgumentException e) {
        // Not base64
      }
      throw new RpcError(RpcError.INVALID_REQUEST, "This Last-Event-ID is not one of Roost.");
    }
  }
}
