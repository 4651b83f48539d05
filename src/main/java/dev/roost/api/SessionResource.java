package dev.roost.api;

import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.security.SecurityRequirements;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Signing in and out: a browser receives a cookie that represents an API key. */
@Path("/v1")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Sessions")
@Blocking
public class SessionResource {
  private final Authentication authentication;
  private final Sessions sessions;
  private final LoginLinks links;
  private final Caller caller;

  SessionResource(
      Authentication authentication, Sessions sessions, LoginLinks links, Caller caller) {
    this.authentication = authentication;
    this.sessions = sessions;
    this.links = links;
    this.caller = caller;
  }

  @POST
  @Takes(BodySize.SIGN_IN)
  @Path("session")
  @WithoutKey
  @Consumes(MediaType.APPLICATION_JSON)
  @SecurityRequirements
  @Operation(
      operationId = "signIn",
      summary = "Sign in",
      description =
          "With an API key or the token of a login link. The response sets the cookie "
              + SessionCookie.NAME
              + " and holds a page token. The two together, the token in the header "
              + RequestFilters.PAGE_TOKEN
              + ", then stand for that key. Requests that change something also need what"
              + " browsers add for a page of this Roost: \"Sec-Fetch-Site: same-origin\" or its Origin.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = SessionRequest.class),
              examples = {
                @ExampleObject(
                    name = "with a key",
                    value = "{\"key\": \"roost_01jd4m8z6hf0r9w2x3c5v7b8na_5f2c…\"}"),
                @ExampleObject(name = "with a login link", value = "{\"token\": \"4e2a51…\"}")
              }))
  @APIResponse(
      responseCode = "201",
      description = "Signed in",
      headers = {
        @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
        @Header(name = "Set-Cookie", schema = @Schema(type = SchemaType.STRING))
      },
      content = @Content(schema = @Schema(implementation = SessionView.class)))
  public RestResponse<SessionView> signIn(
      @Context HttpServerRequest http,
      @Parameter(
              description =
                  "1 to 255 characters. Makes retries safe: for a minute, a used link signs in again for a "
                      + "request with the same Idempotency-Key")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      byte[] body) {
    IdempotencyKey.check(idempotencyKey);
    SessionRequest request = SessionRequest.of(body);
    Sessions.Started started =
        QuarkusTransaction.requiringNew()
            .call(() -> sessions.start(keyOf(request, idempotencyKey)));
    SessionCookie.give(http, started.secret(), sessions.lifetime());
    return ResponseBuilder.ok(
            SessionView.of(authentication.of(started.session()), started.pageToken()))
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/session"))
        .header("Cache-Control", "no-store")
        .build();
  }

  private String keyOf(SessionRequest request, String idempotencyKey) {
    if (request.key().isPresent()) {
      return authentication.ofKey(request.key().get()).keyId();
    }
    return links
        .use(request.token().orElseThrow(), idempotencyKey)
        .orElseThrow(
            () ->
                Authentication.unauthenticated(
                    "This link was already used, has expired, or its API key was deleted. Create another one "
                        + "(\"roost open\"), or sign in with an API key."));
  }

  @GET
  @Path("session")
  @Operation(
      operationId = "getSession",
      summary = "Retrieve the current session",
      description = "Also works with an API key (expires_at is null then) or an access token.")
  public RestResponse<SessionView> get() {
    return ResponseBuilder.ok(SessionView.of(caller.identity(), null))
        .header("Cache-Control", "no-store")
        .build();
  }

  @DELETE
  @Path("session")
  @WithoutKey
  @SecurityRequirements
  @Operation(
      operationId = "signOut",
      summary = "Sign out",
      description =
          "Ends the session of the cookie and the page token, on other replicas within 5 seconds, "
              + "and clears the cookie. Has no effect without a session.")
  @APIResponse(responseCode = "204", description = "Signed out")
  public void signOut(@Context HttpServerRequest http) {
    String pageToken = http.getHeader(RequestFilters.PAGE_TOKEN);
    if (pageToken != null) {
      SessionCookie.secret(http).ifPresent(secret -> sessions.end(secret, pageToken));
    }
    SessionCookie.take(http);
  }

  @POST
  @Path("login-links")
  @Needs(Role.READ)
  @Operation(
      operationId = "createLoginLink",
      summary = "Create a login link",
      description = "The link signs in once, within 10 minutes, with the API key that creates it.")
  @APIResponse(
      responseCode = "201",
      description = "The created link",
      content = @Content(schema = @Schema(implementation = LoginLinks.Link.class)))
  public RestResponse<LoginLinks.Link> link() {
    if (caller.identity().isOfToken()) {
      throw Problem.of(
          ErrorCode.FORBIDDEN,
          "A login link signs in with an API key; an access token can't create one.");
    }
    LoginLinks.Link link =
        links
            .make(caller.identity().keyId())
            .orElseThrow(() -> Authentication.unauthenticated("This API key does not exist."));
    return ResponseBuilder.ok(link)
        .status(RestResponse.Status.CREATED)
        .header("Cache-Control", "no-store")
        .build();
  }
}
