package dev.roost.webhook;

import dev.roost.api.Body;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.cluster.Signals;
import dev.roost.cluster.Waiting;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Deliveries of a webhook and their results, tests, and replays. */
@Path("/v1/webhooks/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Webhooks")
@Blocking
public class DeliveriesResource {
  private static final Duration TEST = Duration.ofSeconds(15);

  private final DeliveryAnswers answers;
  private final Waiting waiting;
  private final Signals signals;

  DeliveriesResource(DeliveryAnswers answers, Waiting waiting, Signals signals) {
    this.answers = answers;
    this.waiting = waiting;
    this.signals = signals;
  }

  /** The schema of the body of a replay. */
  @Schema(name = "ReplayRequest")
  record ReplayRequest(
      @Schema(
              required = true,
              description = "Events after this position; 0 for all events that are kept")
          String after) {}

  /** The result of a replay. */
  @Schema(name = "Replay")
  record Replay(@Schema(description = "The number of deliveries to send") long deliveries) {}

  @POST
  @Path("test")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "testWebhook",
      summary = "Send a test event to a webhook",
      description =
          "Creates an event webhook.test for this webhook only, regardless of its event_types and "
              + "agent_id. The response is delayed until the delivery was attempted, at most 15 seconds. "
              + "Tests are not retried.")
  @APIResponse(
      responseCode = "200",
      description = "The delivery; state and message have the result",
      content = @Content(schema = @Schema(implementation = Delivery.View.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public Uni<Delivery.View> test(String id) {
    DeliveryAnswers.Test test = answers.test(id);
    return waiting.until(
        id,
        TEST,
        () -> answers.tested(test).filter(Delivery.View::wasTried),
        () -> answers.tested(test).orElseThrow(Problem::databaseUnreachable));
  }

  @GET
  @Path("deliveries")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "listDeliveries",
      summary = "List a webhook's deliveries, latest events first")
  public Page<Delivery.View> list(
      String id,
      @Parameter(description = "Only those in this state: pending, succeeded or failed") @RestQuery
          String state,
      @Parameter(description = "Only those of this event type, for example execution.failed")
          @RestQuery("event_type")
          String eventType,
      @RestQuery Integer limit,
      @RestQuery String cursor) {
    return answers.page(id, state, eventType, cursor, Page.limit(limit));
  }

  @GET
  @Path("deliveries/{delivery_id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "getDelivery",
      summary = "Retrieve a delivery, with its attempts and its body")
  public Delivery.View get(
      String id,
      @Parameter(description = "A delivery of this webhook") @PathParam("delivery_id")
          String deliveryId) {
    return answers.get(id, deliveryId);
  }

  @POST
  @Path("deliveries/{delivery_id}/replay")
  @Needs(Role.WRITE)
  @ResponseStatus(202)
  @Operation(
      operationId = "replayDelivery",
      summary = "Resend a delivery",
      description =
          "Sets the delivery to pending, regardless of its state. Its identifier does not change.")
  @APIResponse(
      responseCode = "202",
      description = "The delivery",
      content = @Content(schema = @Schema(implementation = Delivery.View.class)))
  @APIResponse(responseCode = "410", ref = "gone")
  public Delivery.View replay(
      String id,
      @Parameter(description = "A delivery of this webhook") @PathParam("delivery_id")
          String deliveryId) {
    Delivery.View view = answers.again(id, deliveryId);
    signals.fire(Deliveries.TOPIC);
    return view;
  }

  @POST
  @Path("replay")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.WRITE)
  @ResponseStatus(202)
  @Operation(
      operationId = "replayWebhook",
      summary = "Resend missed events to a webhook",
      description =
          "Creates deliveries of the webhook's events after a position that have none, and sets "
              + "failed deliveries after it to pending.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = ReplayRequest.class),
              examples = @ExampleObject(name = "all", value = "{\"after\": \"0\"}")))
  @APIResponse(
      responseCode = "202",
      description = "The number of deliveries to send",
      content = @Content(schema = @Schema(implementation = Replay.class)))
  @APIResponse(responseCode = "410", ref = "gone")
  public Replay replayAll(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("after");
    String after = body.string("after").orElse(null);
    body.check();
    Replay replay = new Replay(answers.again(id, DeliveryAnswers.position("/after", after)));
    signals.fire(Deliveries.TOPIC);
    return replay;
  }
}
