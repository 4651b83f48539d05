package dev.roost.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.execution.Approval;
import dev.roost.execution.Approvals;
import java.util.Map;
import java.util.Set;

/** The question of a script, as a form that the client shows to a person. */
final class Elicitation {
  static final String METHOD = "elicitation/create";

  /** The keywords that a form of the protocol has in common with one of an approval. */
  private static final Set<String> KEYWORDS =
      Set.of(
          "type",
          "title",
          "description",
          "default",
          "minLength",
          "maxLength",
          "minimum",
          "maximum");

  private static final Set<String> FORMATS = Set.of("email", "uri", "date", "date-time");

  private Elicitation() {}

  /** The parameters of the request to the client. */
  static ObjectNode params(Approval approval) {
    ObjectNode params = RpcMessage.object();
    String details = approval.details() == null ? "" : "\n\n" + shown(approval.details());
    params.put("message", approval.title() + details);
    ObjectNode form = params.putObject("requestedSchema").put("type", "object");
    ObjectNode properties = form.putObject("properties");
    if (approval.form() == null) {
      return params;
    }
    JsonNode schema = RpcMessage.tree(approval.form());
    for (Map.Entry<String, JsonNode> field : schema.path("properties").properties()) {
      properties.set(field.getKey(), field(field.getValue()));
    }
    if (schema.path("required").isArray()) {
      form.set("required", schema.get("required"));
    }
    return params;
  }

  private static String shown(JsonText details) {
    JsonNode tree = RpcMessage.tree(details);
    return tree.isTextual() ? tree.textValue() : details.text();
  }

  /** Whatever the form of the protocol can't say is checked when it has been filled in. */
  private static ObjectNode field(JsonNode of) {
    ObjectNode field = RpcMessage.object();
    for (Map.Entry<String, JsonNode> keyword : of.properties()) {
      boolean isKnown =
          KEYWORDS.contains(keyword.getKey())
              || keyword.getKey().equals("enum") && of.path("type").asText().equals("string")
              || keyword.getKey().equals("format") && FORMATS.contains(keyword.getValue().asText());
      if (isKnown) {
        field.set(keyword.getKey(), keyword.getValue());
      }
    }
    return field;
  }

  /**
   * Decides as the person has answered. Nothing happens if the person has closed the form, or if
   * somebody else was first.
   *
   * @param answer with {@code action} and {@code content}
   * @throws RpcError the answer has no known action, or fills in the form with mistakes
   */
  static void decide(Approvals approvals, String approvalId, JsonNode answer, String keyName) {
    boolean isApproved;
    switch (answer.path("action").asText()) {
      case "accept" -> isApproved = true;
      case "decline" -> isApproved = false;
      case "cancel" -> {
        return;
      }
      default -> throw RpcError.invalidParams("action must be accept, decline or cancel.");
    }
    JsonNode content = answer.path("content");
    boolean isFilledIn = isApproved && content.isObject() && !content.isEmpty();
    JsonText value = isFilledIn ? new JsonText(content.toString()) : null;
    try {
      approvals.decide(approvalId, new Approvals.Decision(isApproved, keyName, null, value));
    } catch (Problem e) {
      if (e.code() != ErrorCode.CONFLICT) {
        throw RpcMessage.of(e);
      }
    }
  }
}
