package dev.roost.executor;

import jakarta.ws.rs.container.ContainerRequestContext;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** Refuses who is no executor before anything of the request's body is received. */
public class LinkFilter {
  private final ExecutorTokens tokens;

  LinkFilter(ExecutorTokens tokens) {
    this.tokens = tokens;
  }

  @ServerRequestFilter
  public void authenticate(ContainerRequestContext request) {
    if (request.getUriInfo().getPath().startsWith(LinkServer.LINK)) {
      tokens.verify(request.getHeaderString("Authorization"));
    }
  }
}
