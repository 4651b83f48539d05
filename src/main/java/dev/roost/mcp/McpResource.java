package dev.roost.mcp;

import dev.roost.api.BodySize;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Problem;
import dev.roost.api.ProblemMappers;
import dev.roost.api.ReceivedBody;
import dev.roost.api.RequestFilters;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/**
 * The server of the Model Context Protocol, over Streamable HTTP: {@code /mcp} has the agents that
 * are tools, {@code /mcp/admin} the tools with which agents are written.
 *
 * @see <a href="https://modelcontextprotocol.io/specification">the specification</a>
 */
@Path("/mcp")
@Blocking
public class McpResource {
  private static final String SESSION = "Mcp-Session-Id";
  private static final int BAD_REQUEST = 400;

  private final Methods methods;
  private final Calls calls;

  McpResource(Methods methods, Calls calls) {
    this.methods = methods;
    this.calls = calls;
  }

  @POST
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.READ)
  public Uni<Response> agents(@Context RoutingContext context, byte[] bytes) {
    return post(Methods.Server.AGENTS, context, bytes);
  }

  /** The tools with which agents are written, for keys that may write them. */
  @POST
  @Path("admin")
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.WRITE)
  public Uni<Response> admin(@Context RoutingContext context, byte[] bytes) {
    return post(Methods.Server.ADMIN, context, bytes);
  }

  /** The rest of a stream, for a client with a session whose connection was lost. */
  @GET
  public Response resume(
      @Context RoutingContext context, @HeaderParam("Last-Event-ID") String lastEventId) {
    if (lastEventId == null) {
      throw Problem.of(
              ErrorCode.METHOD_NOT_ALLOWED,
              "Streams begin with POST. GET continues one after the event Last-Event-ID.")
          .withHeader(HttpHeaders.ALLOW, "POST");
    }
    try {
      CallListener.Resumption from = CallListener.Resumption.of(lastEventId);
      Peer peer = Peer.ofSession(context.request()::getHeader);
      return stream(new EventStream(calls.resumed(peer, from), context.response()));
    } catch (RpcError e) {
      return error(null, e, BAD_REQUEST);
    }
  }

  @GET
  @Path("admin")
  @Needs(Role.WRITE)
  public Response resumeAdmin(
      @Context RoutingContext context, @HeaderParam("Last-Event-ID") String lastEventId) {
    return resume(context, lastEventId);
  }

  private Uni<Response> post(Methods.Server server, RoutingContext context, byte[] bytes) {
    RpcMessage message;
    Peer peer;
    try {
      message = RpcMessage.parse(bytes);
    } catch (RpcError e) {
      return Uni.createFrom().item(error(null, e, BAD_REQUEST));
    }
    ReceivedBody.release(context);
    try {
      peer = Peer.of(message, context.request()::getHeader);
      if (message.method() == null) {
        methods.response(message);
      } else if (message.isNotification()) {
        methods.take(peer, message);
      }
    } catch (RpcError e) {
      return Uni.createFrom().item(error(message.id(), e, BAD_REQUEST));
    }
    if (message.method() == null || message.isNotification()) {
      return Uni.createFrom().item(Response.accepted().build());
    }
    return Uni.createFrom()
        .deferred(
            () -> {
              if (Methods.mayStream(message)) {
                requireEvents(context);
              }
              return methods.answer(
                  server, peer, message, context.request().getHeader("traceparent"));
            })
        .map(reply -> response(reply, peer, message, context))
        .onFailure()
        .recoverWithItem(e -> failure(e, message, peer, context));
  }

  private static Response failure(
      Throwable e, RpcMessage message, Peer peer, RoutingContext context) {
    if (e instanceof RpcError error) {
      return error(message.id(), error, status(error, peer));
    }
    Problem problem =
        ProblemMappers.problem(e, context.response().headers().get(RequestFilters.REQUEST_ID));
    RpcError error = RpcMessage.of(problem);
    int status = isOfHttp(problem) ? problem.code().status() : status(error, peer);
    Response response = error(message.id(), error, status);
    problem.headers().forEach((name, value) -> response.getHeaders().add(name, value));
    return response;
  }

  /** Whether a problem is also said by the status of HTTP, which clients act upon. */
  private static boolean isOfHttp(Problem problem) {
    return switch (problem.code()) {
      case FORBIDDEN, RATE_LIMITED, UNAVAILABLE, OVERLOADED, NOT_ACCEPTABLE -> true;
      default -> false;
    };
  }

  private static Response response(
      Reply reply, Peer peer, RpcMessage message, RoutingContext context) {
    if (reply instanceof Reply.Stream stream) {
      return stream(new EventStream(stream.events(), context.response()));
    }
    byte[] json = RpcMessage.response(message.id(), ((Reply.Result) reply).result());
    Response.ResponseBuilder response = Response.ok(json, MediaType.APPLICATION_JSON);
    if (!peer.isStateless() && message.method().equals("initialize")) {
      response.header(SESSION, Peer.newSession(message.params().path("capabilities")));
    }
    return response.build();
  }

  private static void requireEvents(RoutingContext context) {
    String accept = context.request().getHeader(HttpHeaders.ACCEPT);
    if (accept == null || !accept.contains("text/event-stream") && !accept.contains("*/*")) {
      throw Problem.of(
          ErrorCode.NOT_ACCEPTABLE,
          "Send \"Accept: application/json, text/event-stream\": calls are answered with events.");
    }
  }

  private static Response stream(EventStream stream) {
    return Response.ok(stream, MediaType.SERVER_SENT_EVENTS)
        .header("Cache-Control", "no-cache, no-transform")
        .header("X-Accel-Buffering", "no")
        .build();
  }

  private static Response error(JsonText id, RpcError error, int status) {
    return Response.status(status)
        .type(MediaType.APPLICATION_JSON)
        .entity(RpcMessage.error(id, error))
        .build();
  }

  /** Stateless clients also look at the status. */
  private static int status(RpcError error, Peer peer) {
    if (!peer.isStateless()) {
      return 200;
    }
    return switch (error.code()) {
      case RpcError.METHOD_NOT_FOUND -> 404;
      case RpcError.INTERNAL_ERROR -> 200;
      default -> BAD_REQUEST;
    };
  }
}
