package dev.roost.webhook;

import dev.roost.agent.Agent;
import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.event.EventTypes;
import io.quarkus.narayana.jta.QuarkusTransaction;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The fields of a webhook to create or to change.
 *
 * @param anyAgent whether agent_id was given as null
 */
record WebhookRequest(
    @Schema(
            description =
                "The URL that receives the deliveries: https or http, without user name and password",
            examples = "https://example.org/roost")
        String url,
    @Schema(description = "A description, up to 1,000 characters") String description,
    @Schema(
            description =
                "The events to deliver: a type, all types of a resource (execution.*), or * (the default)",
            examples = "[\"execution.failed\"]")
        List<String> eventTypes,
    @Schema(nullable = true, description = "Only events of this agent; null for all agents")
        String agentId,
    @Schema(hidden = true) boolean anyAgent,
    @Schema(
            description =
                "whsec_ and base64 of 24 to 64 bytes. If it is left out, Roost generates one. After a "
                    + "change, deliveries are also signed with the previous secret for 24 hours.")
        String secret,
    @Schema(description = "Only in an update: generates a new secret") boolean rotateSecret,
    @Schema(description = "Only in an update: active enables the webhook, disabled stops it")
        WebhookState state) {
  private static final int MAX_DESCRIPTION_CHARACTERS = 1_000;
  private static final int MAX_EVENT_TYPES = 50;

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static WebhookRequest toMake(byte[] utf8, Addresses addresses) {
    Body body = Body.parse(utf8);
    body.require("url");
    WebhookRequest request = read(body, addresses, false, null);
    body.check();
    return request;
  }

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static WebhookRequest toChange(byte[] utf8, Addresses addresses) {
    Body body = Body.parse(utf8);
    boolean rotate = body.bool("rotate_secret").orElse(false);
    WebhookState state = body.choice("state", WebhookState.class).orElse(null);
    WebhookRequest request = read(body, addresses, rotate, state);
    if (rotate && request.secret() != null) {
      body.reject("rotate_secret", "contradiction", "Send secret or rotate_secret, not both.");
    }
    body.check();
    return request;
  }

  private static WebhookRequest read(
      Body body, Addresses addresses, boolean rotate, WebhookState state) {
    String url = body.string("url").orElse(null);
    if (url != null) {
      addresses.mistake(url).ifPresent(detail -> body.reject("url", "invalid_url", detail));
    }
    String description = body.string("description").orElse(null);
    if (description != null
        && description.codePointCount(0, description.length()) > MAX_DESCRIPTION_CHARACTERS) {
      body.reject(
          "description",
          "out_of_range",
          "A description must have at most %,d characters.".formatted(MAX_DESCRIPTION_CHARACTERS));
    }
    List<String> types = body.strings("event_types").orElse(null);
    if (types != null) {
      checkTypes(body, types);
    }
    boolean anyAgent = body.isNull("agent_id");
    String agentId = anyAgent ? null : body.string("agent_id").orElse(null);
    if (agentId != null && !isAgent(agentId)) {
      body.reject("agent_id", "not_found", "This agent does not exist.");
    }
    String secret = body.string("secret").orElse(null);
    if (secret != null) {
      Secret.mistake(secret).ifPresent(detail -> body.reject("secret", "invalid_secret", detail));
    }
    return new WebhookRequest(
        url,
        description,
        types == null ? null : types.stream().distinct().toList(),
        agentId,
        anyAgent,
        secret,
        rotate,
        state);
  }

  private static void checkTypes(Body body, List<String> types) {
    if (types.isEmpty() || types.size() > MAX_EVENT_TYPES) {
      body.reject(
          "event_types",
          "out_of_range",
          "event_types must have 1 to " + MAX_EVENT_TYPES + " entries; [\"*\"] means all events.");
    }
    for (int i = 0; i < types.size(); i++) {
      int index = i;
      EventTypes.mistake(types.get(i))
          .ifPresent(detail -> body.reject("event_types/" + index, "not_a_choice", detail));
    }
  }

  private static boolean isAgent(String id) {
    return QuarkusTransaction.requiringNew()
        .call(() -> Agent.count("id = ?1 and deletedAt is null", id) > 0);
  }

  /** Omits the secret, which must not get into logs. */
  @Override
  public String toString() {
    return "webhook request";
  }
}
