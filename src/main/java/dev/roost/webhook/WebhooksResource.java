package dev.roost.webhook;

import dev.roost.api.Cursor;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Role;
import dev.roost.cluster.Signals;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Webhooks; only keys with write access can read or change them. */
@Path("/v1/webhooks")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
@Tag(name = "Webhooks")
@Blocking
public class WebhooksResource {
  private final Webhooks webhooks;
  private final Addresses addresses;
  private final Signals signals;

  WebhooksResource(Webhooks webhooks, Addresses addresses, Signals signals) {
    this.webhooks = webhooks;
    this.addresses = addresses;
    this.signals = signals;
  }

  @POST
  @Needs(Role.WRITE)
  @Operation(
      operationId = "createWebhook",
      summary = "Create a webhook",
      description = "The response contains the secret, which is not shown again.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = WebhookRequest.class),
              examples =
                  @ExampleObject(
                      name = "failures",
                      value =
                          "{\"url\": \"https://example.org/roost\", \"event_types\": [\"execution.failed\"]}")))
  @APIResponse(
      responseCode = "201",
      description = "The created webhook, with its secret",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content = @Content(schema = @Schema(implementation = Webhook.View.class)))
  public RestResponse<Webhook.View> create(byte[] body) {
    Webhook webhook = webhooks.make(WebhookRequest.toMake(body, addresses));
    return ResponseBuilder.ok(Webhook.View.withSecret(webhook))
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/webhooks/" + webhook.id()))
        .header("Cache-Control", "no-store")
        .build();
  }

  @GET
  @Needs(Role.WRITE)
  @Operation(operationId = "listWebhooks", summary = "List webhooks, newest first")
  public Page<Webhook.View> list(@RestQuery Integer limit, @RestQuery String cursor) {
    return webhooks.page(Cursor.id("hook", cursor), Page.limit(limit));
  }

  @GET
  @Path("{id}")
  @Needs(Role.WRITE)
  @Operation(operationId = "getWebhook", summary = "Retrieve a webhook, without its secret")
  public Webhook.View get(String id) {
    return Webhook.View.of(webhooks.get(id));
  }

  @PATCH
  @Path("{id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "updateWebhook",
      summary = "Update a webhook",
      description =
          "Fields that are left out keep their values. With state active, a disabled webhook is "
              + "enabled and its pending deliveries are sent. With secret or rotate_secret, the response "
              + "contains the new secret, and deliveries are also signed with the previous secret for 24 "
              + "hours.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = WebhookRequest.class),
              examples = {
                @ExampleObject(name = "enable again", value = "{\"state\": \"active\"}"),
                @ExampleObject(name = "another secret", value = "{\"rotate_secret\": true}")
              }))
  @APIResponse(
      responseCode = "200",
      description = "The webhook",
      content = @Content(schema = @Schema(implementation = Webhook.View.class)))
  public RestResponse<Webhook.View> update(String id, byte[] body) {
    WebhookRequest request = WebhookRequest.toChange(body, addresses);
    Webhook webhook = webhooks.change(id, request);
    signals.fire(Deliveries.TOPIC);
    if (request.secret() == null && !request.rotateSecret()) {
      return RestResponse.ok(Webhook.View.of(webhook));
    }
    return ResponseBuilder.ok(Webhook.View.withSecret(webhook))
        .header("Cache-Control", "no-store")
        .build();
  }

  @DELETE
  @Path("{id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "deleteWebhook",
      summary = "Delete a webhook with its deliveries",
      description = "Nothing more is sent, except requests that are in progress.")
  @APIResponse(responseCode = "204", description = "Deleted")
  public void delete(String id) {
    webhooks.delete(id);
  }
}
