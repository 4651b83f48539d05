package dev.roost.cluster;

import jakarta.ws.rs.container.ContainerResponseContext;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/** Tells clients of a stopping process to reconnect, so that they reach another replica. */
public class DrainFilter {
  private final Draining draining;

  DrainFilter(Draining draining) {
    this.draining = draining;
  }

  @ServerResponseFilter
  public void close(ContainerResponseContext response) {
    if (draining.isOn()) {
      response.getHeaders().putSingle("Connection", "close");
    }
  }
}
