package dev.roost.runtime.local;

import dev.roost.config.RoostConfig;
import io.quarkus.arc.Unremovable;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import jakarta.enterprise.context.ApplicationScoped;

/** Runs once everything is up: tells the person who has started Roost where to go from here. */
@ApplicationScoped
@Unremovable
class LocalApplication implements QuarkusApplication {
  private final RoostConfig config;
  private final FirstKey firstKey;

  LocalApplication(RoostConfig config, FirstKey firstKey) {
    this.config = config;
    this.firstKey = firstKey;
  }

  @Override
  public int run(String... arguments) {
    String key = firstKey.announce();
    System.out.println(
        "Roost is ready at " + LocalRuntime.executorUrl(config.host(), config.port()));
    System.out.println(key);
    Quarkus.waitForExit();
    return 0;
  }
}
