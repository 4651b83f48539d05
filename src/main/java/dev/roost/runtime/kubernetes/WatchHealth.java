package dev.roost.runtime.kubernetes;

import io.quarkus.arc.lookup.LookupIfProperty;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/**
 * Reports a watch that stays dead although the API server responds and the watch was restarted:
 * then a restart of this process may help. An unreachable API server is no reason for a restart,
 * because executions continue without it.
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
