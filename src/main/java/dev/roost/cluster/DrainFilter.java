package dev.roost.cluster;

import jakarta.ws.rs.container.ContainerResponseContext;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/** Asks clients of a process that is about to stop to connect anew, that is, elsewhere. */
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
