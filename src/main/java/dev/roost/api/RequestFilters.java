package dev.roost.api;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jboss.logging.MDC;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** Filters for all requests: request identifier and authentication. */
public class RequestFilters {
  public static final String REQUEST_ID = "X-Request-Id";

  /**
   * The header that must accompany a session cookie. Browsers send the cookie to every port of the
   * host, where other programs may listen.
   */
  public static final String PAGE_TOKEN = "Roost-Page-Token";

  private static final Pattern ACCEPTABLE_ID = Pattern.compile("[\\x21-\\x7e]{1,128}");

  /** Query parameters with keys of entries, which may contain any character. */
  private static final Set<String> OF_KEYS = Set.of("prefix", "start", "after");

  /** The APIs of other services, which require Roost's keys. */
  private static final String COMPATIBLE = "/compat/";

  private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

  private final Authentication authentication;
  private final Sessions sessions;
  private final Caller caller;
  private final TokenSenders tokens;
  private final AllowedMethods allowed;

  RequestFilters(
      Authentication authentication,
      Sessions sessions,
      Caller caller,
      TokenSenders tokens,
      AllowedMethods allowed) {
    this.tokens = tokens;
    this.allowed = allowed;
    this.authentication = authentication;
    this.sessions = sessions;
    this.caller = caller;
  }

  @ServerRequestFilter(preMatching = true)
  public void identify(ContainerRequestContext request, RoutingContext routing) {
    String given = request.getHeaderString(REQUEST_ID);
    boolean keep = given != null && ACCEPTABLE_ID.matcher(given).matches();
    String id = keep ? given : Ids.next("req");
    request.setProperty(REQUEST_ID, id);
    // The diagnostic context belongs to this request, so all log lines of the request have the
    // identifier.
    MDC.put("request_id", id);
    // Response filters don't see streamed responses.
    routing.addHeadersEndHandler(end -> routing.response().putHeader(REQUEST_ID, id));
    String path = routing.normalizedPath();
    checkPath(path);
    checkQuery(path, request.getUriInfo().getQueryParameters());
    checkMediaTypes(request);
  }

  /** RESTEasy responds with an internal error when these headers are invalid. */
  private static void checkMediaTypes(ContainerRequestContext request) {
    try {
      request.getMediaType();
    } catch (RuntimeException e) {
      throw Problem.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE, "The Content-Type is not a valid media type.");
    }
    try {
      request.getAcceptableMediaTypes();
    } catch (RuntimeException e) {
      throw Problem.of(
          ErrorCode.NOT_ACCEPTABLE, "The Accept header contains an invalid media type.");
    }
  }

  /**
   * RESTEasy would drop the text after a semicolon, so resources could see another path than
   * earlier checks. No resource has NUL in its name. Keys of entries have already been removed from
   * the path.
   */
  private static void checkPath(String path) {
    if (path.indexOf(';') >= 0 || path.indexOf('\0') >= 0 || path.contains("%00")) {
      throw Problem.of(ErrorCode.NOT_FOUND, "Paths must not contain \";\" or a NUL character.");
    }
  }

  private static void checkQuery(String path, MultivaluedMap<String, String> parameters) {
    boolean ofStore = path.startsWith("/v1/datastore/");
    parameters.forEach(
        (name, values) -> {
          // RESTEasy would use the first value, and the client may have meant another.
          if (values.size() > 1) {
            throw Problem.invalid(
                "?" + name.replace("\0", ""),
                "repeated",
                "The query parameter %s occurs %,d times; send it once."
                    .formatted(Text.quote(name), values.size()));
          }
          if (ofStore && OF_KEYS.contains(name)) {
            return;
          }
          for (String text : values) {
            Text.unstorable(name + text)
                .ifPresent(
                    mistake -> {
                      throw Problem.invalid(
                          "?" + name.replace("\0", ""),
                          "invalid_text",
                          "The query parameter " + Text.quote(name) + " " + mistake.detail() + ".");
                    });
          }
        });
  }

  /** RESTEasy would list the methods of all paths with the same prefix. */
  @ServerRequestFilter(preMatching = true)
  public Optional<Response> options(ContainerRequestContext request) {
    Set<String> methods =
        request.getMethod().equals("OPTIONS")
            ? allowed.at(request.getUriInfo().getPath())
            : Set.of();
    return methods.isEmpty()
        ? Optional.empty()
        : Optional.of(Response.ok().header(HttpHeaders.ALLOW, String.join(", ", methods)).build());
  }

  @ServerRequestFilter
  public void authenticate(
      ContainerRequestContext request, ResourceInfo resource, RoutingContext routing) {
    String path = request.getUriInfo().getPath();
    if (!path.startsWith("/v1/") && !path.startsWith(COMPATIBLE) && !isMcp(path)) {
      return;
    }
    HttpServerRequest http = routing.request();
    String authorization = request.getHeaderString("Authorization");
    Optional<String> session = SessionCookie.secret(http);
    boolean open = resource.getResourceMethod().isAnnotationPresent(WithoutKey.class);
    if (!READING.contains(request.getMethod())) {
      checkSender(Sender.of(http), authorization == null && session.isPresent(), open);
    }
    if (open) {
      return;
    }
    try {
      authenticate(request, resource, routing, session);
    } catch (Problem e) {
      throw tokens.withMetadata(e, path);
    }
  }

  private void authenticate(
      ContainerRequestContext request,
      ResourceInfo resource,
      RoutingContext routing,
      Optional<String> session) {
    Identity identity =
        authentication.identify(
            request.getHeaderString("Authorization"), session, request.getHeaderString(PAGE_TOKEN));
    AccessLog.sentWith(routing, identity.keyId());
    if (identity.session() != null && identity.session().renewed()) {
      SessionCookie.give(routing.request(), session.orElseThrow(), sessions.lifetime());
    }
    caller.is(identity);
    caller.require(needed(request, resource));
  }

  /** The server of the Model Context Protocol. */
  private static boolean isMcp(String path) {
    return path.equals("/mcp") || path.startsWith("/mcp/");
  }

  /** Pages of other sites must not change anything with a session and must not sign anybody in. */
  private static void checkSender(Sender sender, boolean bySession, boolean open) {
    if (bySession && sender != Sender.OWN_PAGE || open && sender == Sender.OTHER_PAGE) {
      throw Problem.of(
          ErrorCode.FORBIDDEN,
          "Only pages of this Roost may send this request with a session cookie: it requires "
              + "\"Sec-Fetch-Site: same-origin\" or an Origin that equals the Host. Use an API key in "
              + "programs; a proxy must forward the Host header.");
    }
  }

  private static Role needed(ContainerRequestContext request, ResourceInfo resource) {
    Needs needs = resource.getResourceMethod().getAnnotation(Needs.class);
    if (needs != null) {
      return needs.value();
    }
    return READING.contains(request.getMethod()) ? Role.READ : Role.WRITE;
  }
}
