package dev.roost.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A message of JSON-RPC 2.0 from a client.
 *
 * @param id as its exact text; null: a notification
 * @param method null: a response to one of our requests
 * @param params of the request that some method reads, without {@code arguments}; may be empty
 * @param arguments of a tool, as their exact text; or null
 * @param result of a response; or null
 */
record RpcMessage(
    JsonText id, String method, JsonNode params, JsonText arguments, JsonNode result) {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private static final int LONGEST_ID = 200;

  /** The parameters that some method reads; others have no meaning here. */
  private static final List<String> PARAMS =
      List.of(
          "_meta",
          "capabilities",
          "cursor",
          "inputResponses",
          "name",
          "protocolVersion",
          "requestId",
          "requestState",
          "task",
          "taskId",
          "uri");

  /**
   * @throws RpcError parse error, invalid request
   */
  static RpcMessage parse(byte[] bytes) {
    Body body;
    try {
      body = Body.parse(bytes);
    } catch (Problem e) {
      boolean isBatch = new String(bytes, StandardCharsets.UTF_8).stripLeading().startsWith("[");
      throw isBatch
          ? new RpcError(RpcError.INVALID_REQUEST, "Send one message; batches are not supported.")
          : new RpcError(RpcError.PARSE_ERROR, e.getMessage());
    }
    JsonText id = body.json("id").orElse(null);
    String method = body.json("method").map(RpcMessage::tree).map(JsonNode::textValue).orElse(null);
    JsonText params = body.json("params").orElse(null);
    JsonNode result = body.json("result").map(RpcMessage::tree).orElse(null);
    boolean isResponse = result != null || body.json("error").isPresent();
    if (!"\"2.0\"".equals(body.json("jsonrpc").map(JsonText::text).orElse(null))
        || method == null && !(isResponse && id != null)
        || id != null && !isId(id)
        || params != null && !params.text().startsWith("{")) {
      throw new RpcError(
          RpcError.INVALID_REQUEST,
          "The body must be one request, notification or response of JSON-RPC 2.0.");
    }
    return params == null
        ? new RpcMessage(id, method, JsonNodeFactory.instance.objectNode(), null, result)
        : withParams(id, method, params, result);
  }

  private static RpcMessage withParams(JsonText id, String method, JsonText text, JsonNode result) {
    Body body;
    try {
      body = Body.parse(text.text().getBytes(StandardCharsets.UTF_8));
    } catch (Problem e) {
      throw RpcError.invalidParams(e.getMessage());
    }
    JsonText arguments = body.json("arguments").filter(each -> !isNull(each)).orElse(null);
    if (arguments != null && !arguments.text().startsWith("{")) {
      throw RpcError.invalidParams("arguments must be an object.");
    }
    ObjectNode params = object();
    for (String name : PARAMS) {
      body.json(name).ifPresent(value -> params.set(name, tree(value)));
    }
    return new RpcMessage(id, method, params, arguments, result);
  }

  private static boolean isNull(JsonText text) {
    return text.text().equals("null");
  }

  private static boolean isId(JsonText id) {
    JsonNode node = id.text().length() > LONGEST_ID ? null : tree(id);
    return node != null && (node.isTextual() || node.isIntegralNumber());
  }

  /**
   * @throws RpcError invalid request: for example a number of thousands of digits
   */
  static JsonNode tree(JsonText text) {
    try {
      return JSON.readTree(text.text());
    } catch (JsonProcessingException e) {
      throw new RpcError(RpcError.INVALID_REQUEST, e.getOriginalMessage());
    }
  }

  /** A member of an object that has been read before, with its exact text; null: there is none. */
  static JsonText member(JsonText object, String name) {
    return Body.parse(object.text().getBytes(StandardCharsets.UTF_8)).json(name).orElse(null);
  }

  /** A pointer from the value that a pointer's beginning leads to. */
  static String within(String pointer, String beginning) {
    return pointer.startsWith(beginning) ? pointer.substring(beginning.length()) : pointer;
  }

  /** Wants no answer. */
  boolean isNotification() {
    return id == null;
  }

  /** A text among the parameters. */
  String text(String name) {
    String text = params.path(name).textValue();
    if (text == null) {
      throw RpcError.invalidParams("params." + name + " must be a string.");
    }
    return text;
  }

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Another representation of the value within a tree, whose text is kept. */
  static RawValue raw(JsonText text) {
    return new RawValue(text.text());
  }

  static byte[] response(JsonText id, ObjectNode result) {
    ObjectNode response = envelope();
    response.putRawValue("id", raw(id));
    response.set("result", result);
    return bytes(response);
  }

  /**
   * @param id null: the request can't be read
   */
  static byte[] error(JsonText id, RpcError error) {
    ObjectNode response = envelope();
    if (id == null) {
      response.putNull("id");
    } else {
      response.putRawValue("id", raw(id));
    }
    ObjectNode object = response.putObject("error");
    object.put("code", error.code()).put("message", error.getMessage());
    if (error.data() != null) {
      object.set("data", error.data());
    }
    return bytes(response);
  }

  static byte[] notification(String method, ObjectNode params) {
    ObjectNode message = envelope().put("method", method);
    message.set("params", params);
    return bytes(message);
  }

  /** A request of ours, which the client answers with a message of its own. */
  static byte[] request(String id, String method, ObjectNode params) {
    ObjectNode message = envelope().put("id", id).put("method", method);
    message.set("params", params);
    return bytes(message);
  }

  private static ObjectNode envelope() {
    return object().put("jsonrpc", "2.0");
  }

  static byte[] bytes(ObjectNode message) {
    try {
      return JSON.writeValueAsBytes(message);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** How JSON-RPC says a problem of the REST API. */
  static RpcError of(Problem problem) {
    int code =
        switch (problem.code()) {
          case NOT_FOUND, VALIDATION_FAILED, MALFORMED_JSON, TOO_LARGE, CONFLICT ->
              RpcError.INVALID_PARAMS;
          default -> RpcError.INTERNAL_ERROR;
        };
    ObjectNode data = object().put("code", problem.code().code());
    if (problem.code() == ErrorCode.VALIDATION_FAILED) {
      for (Problem.FieldError error : problem.errors()) {
        data.withArray("errors")
            .addObject()
            .put("pointer", error.pointer())
            .put("detail", error.detail());
      }
    }
    return new RpcError(code, problem.getMessage(), data);
  }
}
