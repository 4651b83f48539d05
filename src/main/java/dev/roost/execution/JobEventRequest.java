package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.config.RoostConfig;
import jakarta.ws.rs.core.Response;

/** The request that sends an event, to one job or by its key. */
final class JobEventRequest {
  private JobEventRequest() {}

  /**
   * @param job null for an event with a key
   */
  static Response send(
      JobEvents events, RoostConfig config, String job, String idempotencyKey, byte[] bytes) {
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    String name = text(body, "name", JobEvents.MOST_NAME_CHARACTERS);
    String key = job == null ? text(body, "key", JobEvents.MOST_KEY_CHARACTERS) : null;
    int sizeBytes = body.sizeBytes("data");
    String data = body.json("data").map(JsonText::text).orElse("null");
    body.check();
    ExecuteResource.checkSize("data", sizeBytes, config);
    JobEvents.Sent sent = events.send(new JobEvents.Message(name, job, key, data, idempotencyKey));
    return Response.status(sent.repeated() ? 200 : 201).entity(sent.event()).build();
  }

  private static String text(Body body, String name, int most) {
    String text = JobSteps.text(body, name, most).orElse(null);
    body.require(name);
    if (text != null && text.isEmpty()) {
      body.reject(name, "too_short", name + " can't be empty.");
    }
    return text;
  }
}
