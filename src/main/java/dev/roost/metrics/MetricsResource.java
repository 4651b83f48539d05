package dev.roost.metrics;

import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The metrics of this replica, for clients with a key. */
@Path("/v1/metrics")
@Tag(name = "Overview")
@Blocking
public class MetricsResource {
  private final PrometheusMeterRegistry registry;

  MetricsResource(PrometheusMeterRegistry registry) {
    this.registry = registry;
  }

  @GET
  @Produces(TextFormat.CONTENT_TYPE_004)
  @Operation(
      operationId = "getMetrics",
      summary = "Prometheus metrics of the replica that responds",
      description = "In the text format of Prometheus. docs/metrics.md describes the metrics.")
  @APIResponse(responseCode = "200")
  public String get() {
    return registry.scrape();
  }
}
