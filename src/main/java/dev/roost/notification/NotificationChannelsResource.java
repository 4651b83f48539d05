package dev.roost.notification;

import dev.roost.api.Cursor;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.cluster.Signals;
import dev.roost.cluster.Waiting;
import dev.roost.webhook.Addresses;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.time.Duration;
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

/**
 * Notification channels and their messages; only keys with write access can read or change them.
 */
@Path("/v1/notification-channels")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
@Tag(name = "Notifications")
@Blocking
public class NotificationChannelsResource {
  private static final Duration TEST = Duration.ofSeconds(30);

  private final Channels channels;
  private final MessageRepository messages;
  private final Collector collector;
  private final MailSettings mail;
  private final Addresses addresses;
  private final Signals signals;
  private final Waiting waiting;

  NotificationChannelsResource(
      Channels channels,
      MessageRepository messages,
      Collector collector,
      MailSettings mail,
      Addresses addresses,
      Signals signals,
      Waiting waiting) {
    this.channels = channels;
    this.messages = messages;
    this.collector = collector;
    this.mail = mail;
    this.addresses = addresses;
    this.signals = signals;
    this.waiting = waiting;
  }

  @POST
  @Needs(Role.WRITE)
  @Operation(
      operationId = "createNotificationChannel",
      summary = "Create a notification channel",
      description =
          "A channel sends messages about issues and failed builds to people, by e-mail or to an "
              + "incoming webhook of Slack or of a program that understands its format.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = ChannelRequest.class),
              examples = {
                @ExampleObject(
                    name = "slack",
                    value =
                        "{\"name\": \"On-call\", \"kind\": \"slack\", \"url\": \"https://example.org/services/T0/B0/x\"}"),
                @ExampleObject(
                    name = "quiet at night",
                    value =
                        """
                        {"name": "Team", "kind": "email", "recipients": ["team@example.org"], "time_zone": "Europe/Berlin",
                         "quiet_times": [{"days": ["mon", "tue"], "from": "22:00", "to": "07:00"}]}""")
              }))
  @APIResponse(
      responseCode = "201",
      description = "The created channel",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content = @Content(schema = @Schema(implementation = Channel.View.class)))
  public RestResponse<Channel.View> create(byte[] body) {
    Channel channel = channels.make(ChannelRequest.toMake(body, addresses, mail.isConfigured()));
    return ResponseBuilder.ok(Channel.View.of(channel))
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/notification-channels/" + channel.id()))
        .build();
  }

  @GET
  @Needs(Role.WRITE)
  @Operation(
      operationId = "listNotificationChannels",
      summary = "List notification channels, newest first")
  public Page<Channel.View> list(@RestQuery Integer limit, @RestQuery String cursor) {
    return channels.page(Cursor.id("channel", cursor), Page.limit(limit));
  }

  @GET
  @Path("{id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "getNotificationChannel",
      summary = "Retrieve a notification channel, with the result of its latest message")
  public Channel.View get(String id) {
    return Channel.View.of(channels.get(id));
  }

  @PATCH
  @Path("{id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "updateNotificationChannel",
      summary = "Update a notification channel",
      description =
          "Fields that are left out keep their values. With state disabled, what was collected is "
              + "dropped, and nothing is sent until state is active again.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = ChannelRequest.class),
              examples = @ExampleObject(name = "stop", value = "{\"state\": \"disabled\"}")))
  @APIResponse(
      responseCode = "200",
      description = "The channel",
      content = @Content(schema = @Schema(implementation = Channel.View.class)))
  public Channel.View update(String id, byte[] body) {
    return Channel.View.of(
        channels.change(id, old -> ChannelRequest.toChange(body, old, addresses)));
  }

  @DELETE
  @Path("{id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "deleteNotificationChannel",
      summary = "Delete a notification channel with its messages")
  @APIResponse(responseCode = "204", description = "Deleted")
  public void delete(String id) {
    channels.delete(id);
  }

  @POST
  @Path("{id}/test")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "testNotificationChannel",
      summary = "Send a test message",
      description =
          "Sends a message at once, also in quiet times and by a disabled channel. The response is "
              + "delayed until it was attempted, at most 30 seconds. Tests are not retried.")
  @APIResponse(
      responseCode = "200",
      description = "The message; state and error have the result",
      content = @Content(schema = @Schema(implementation = Message.View.class)))
  public Uni<Message.View> test(String id) {
    channels.get(id);
    String message = collector.test(id);
    signals.fire(Notifications.TOPIC);
    return waiting.until(
        message,
        TEST,
        () -> messages.find(message).filter(Message.View::wasTried),
        () -> messages.find(message).orElseThrow(Problem::databaseUnreachable));
  }

  @GET
  @Path("{id}/messages")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "listNotificationMessages",
      summary = "List a notification channel's messages, newest first")
  public Page<Message.View> messages(
      String id, @RestQuery Integer limit, @RestQuery String cursor) {
    channels.get(id);
    return messages.page(id, cursor, Page.limit(limit));
  }
}
