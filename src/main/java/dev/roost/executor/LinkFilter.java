package dev.roost.executor;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.container.ResourceInfo;
import java.util.Objects;
import java.util.Set;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** Rejects requests without an executor's token before their body is received. */
public class LinkFilter {
  private static final Set<Class<?>> LINK =
      Set.of(ExecutorLinkResource.class, BundleLinkResource.class);

  private static final String BEARER = ExecutorTokens.Bearer.class.getName();

  private final ExecutorTokens tokens;

  LinkFilter(ExecutorTokens tokens) {
    this.tokens = tokens;
  }

  @ServerRequestFilter
  public void authenticate(ResourceInfo resource, RoutingContext routing) {
    if (LINK.contains(resource.getResourceClass())) {
      routing.put(BEARER, tokens.verify(routing.request().getHeader("Authorization")));
    }
  }

  /**
   * @param id the executor in the path
   * @throws Problem forbidden: the request comes from another one
   */
  static void requireOwn(String id, ExecutorTokens.Bearer bearer) {
    if (!bearer.executorId().equals(id)) {
      throw Problem.of(ErrorCode.FORBIDDEN, "The token names another executor.");
    }
  }

  /** The executor that a request on the link comes from. */
  static ExecutorTokens.Bearer bearer(RoutingContext routing) {
    return Objects.requireNonNull(routing.get(BEARER));
  }
}
