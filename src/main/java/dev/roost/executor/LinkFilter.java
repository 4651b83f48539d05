package dev.roost.executor;

import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.container.ResourceInfo;
import java.util.Objects;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** Rejects requests without an executor's token before their body is received. */
public class LinkFilter {
  private static final String BEARER = ExecutorTokens.Bearer.class.getName();

  private final ExecutorTokens tokens;

  LinkFilter(ExecutorTokens tokens) {
    this.tokens = tokens;
  }

  @ServerRequestFilter
  public void authenticate(ResourceInfo resource, RoutingContext routing) {
    if (resource.getResourceClass() == ExecutorLinkResource.class) {
      routing.put(BEARER, tokens.verify(routing.request().getHeader("Authorization")));
    }
  }

  /** The executor that a request on the link comes from. */
  static ExecutorTokens.Bearer bearer(RoutingContext routing) {
    return Objects.requireNonNull(routing.get(BEARER));
  }
}
