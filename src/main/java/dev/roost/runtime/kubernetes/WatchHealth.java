package dev.roost.runtime.kubernetes;

import io.quarkus.arc.lookup.LookupIfProperty;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/**
 * Sees a watch that is dead although the API server answers, and that starting another did not
 * help: then a restart of this process may. An API server that is away is no reason for one:
 * executions go on without it.
 */
@Liveness
@ApplicationScoped
@LookupIfProperty(name = "roost.runtime", stringValue = "kubernetes")
class WatchHealth implements HealthCheck {
  private static final Duration TOO_LONG = Duration.ofMinutes(5);

  private final KubernetesRuntime runtime;

  WatchHealth(KubernetesRuntime runtime) {
    this.runtime = runtime;
  }

  @Override
  public HealthCheckResponse call() {
    Duration blind = runtime.blindFor();
    boolean down = blind.compareTo(TOO_LONG) > 0 && runtime.answers();
    return HealthCheckResponse.named("Kubernetes watches")
        .status(!down)
        .withData("blind_for_seconds", blind.toSeconds())
        .build();
  }
}
