package dev.roost.start;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.kubernetes.KubernetesRuntime;
import dev.roost.runtime.local.LocalRuntime;
import io.quarkus.arc.DefaultBean;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** The runtime that the settings select. */
class Runtimes {
  @Produces
  @DefaultBean // Tests provide another one.
  @Singleton
  Runtime chosen(
      RoostConfig config, Instance<LocalRuntime> local, Instance<KubernetesRuntime> kubernetes) {
    return switch (config.runtime()) {
      case "local" -> local.get();
      case "kubernetes" -> kubernetes.get();
      default ->
          throw new IllegalStateException(
              "roost.runtime: there is no \"" + config.runtime() + "\"");
    };
  }
}
