package dev.roost.runtime.local;

import dev.roost.config.RoostConfig;
import dev.roost.event.Ready;
import dev.roost.runtime.Runtime;
import io.quarkus.arc.ClientProxy;
import io.quarkus.arc.Unremovable;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;

/** Runs once everything is up: tells the person who has started Roost where to go from here. */
@ApplicationScoped
@Unremovable
class LocalApplication implements QuarkusApplication {
  private final RoostConfig config;
  private final FirstKey firstKey;
  private final Runtime runtime;
  private final Event<Ready> ready;

  LocalApplication(RoostConfig config, FirstKey firstKey, Runtime runtime, Event<Ready> ready) {
    this.config = config;
    this.runtime = runtime;
    this.firstKey = firstKey;
    this.ready = ready;
  }

  @Override
  public int run(String... arguments) {
    String key = firstKey.announce();
    ready.fire(new Ready(System.out));
    String url = LocalRuntime.executorUrl(config.host(), config.port());
    System.out.println("Roost is ready at " + url);
    firstKey.loginUrl().ifPresent(login -> System.out.println("Dashboard: " + url + login));
    System.out.println(key);
    if (runtime.sandbox().isNone()) {
      System.out.println("Scripts run without a sandbox: " + runtime.sandbox().message());
    }
    if (runtime.processLimit().isNone()) {
      System.out.println(
          runtime.processLimit().message() + " The kernel doesn't bound their processes.");
    }
    Runtime itself = ClientProxy.unwrap(runtime); // The proxy ends with the container.
    Quarkus.waitForExit();
    if (config.drain().isZero()) {
      // Now, not when Quarkus says so: it waits for open requests first, also for executors' polls.
      itself.close();
    }
    return 0;
  }
}
