package dev.roost.api;

import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import java.util.Set;
import java.util.regex.Pattern;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** What happens around every request: its identifier and its API key. */
public class RequestFilters {
  static final String REQUEST_ID = "X-Request-Id";
  private static final Pattern ACCEPTABLE_ID = Pattern.compile("[\\x21-\\x7e]{1,128}");

  private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

  private final Authentication authentication;
  private final Caller caller;

  RequestFilters(Authentication authentication, Caller caller) {
    this.authentication = authentication;
    this.caller = caller;
  }

  @ServerRequestFilter(preMatching = true)
  public void identify(ContainerRequestContext request, RoutingContext routing) {
    String given = request.getHeaderString(REQUEST_ID);
    boolean keep = given != null && ACCEPTABLE_ID.matcher(given).matches();
    String id = keep ? given : Ids.next("req");
    request.setProperty(REQUEST_ID, id);
    // Response filters don't see what is streamed.
    routing.addHeadersEndHandler(end -> routing.response().putHeader(REQUEST_ID, id));
  }

  @ServerRequestFilter
  public void authenticate(ContainerRequestContext request, ResourceInfo resource) {
    if (!request.getUriInfo().getPath().startsWith("/v1/")) {
      return;
    }
    Role role = authentication.roleOf(request.getHeaderString("Authorization"));
    Role needed = needed(request, resource);
    if (!role.allows(needed)) {
      throw Problem.of(
          ErrorCode.FORBIDDEN,
          "This key has the role \"%s\"; \"%s\" is needed.".formatted(role.code(), needed.code()));
    }
    caller.is(role);
  }

  private static Role needed(ContainerRequestContext request, ResourceInfo resource) {
    Needs needs = resource.getResourceMethod().getAnnotation(Needs.class);
    if (needs != null) {
      return needs.value();
    }
    return READING.contains(request.getMethod()) ? Role.READ : Role.WRITE;
  }
}
