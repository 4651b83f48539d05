package dev.roost.start;

import dev.roost.cluster.Ready;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.local.LocalRuntime;
import io.quarkus.arc.ClientProxy;
import io.quarkus.arc.Unremovable;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import java.io.OutputStream;
import java.io.PrintStream;
import org.jboss.logging.Logger;

/**
 * Runs after the start-up: prints the addresses and the key's location for the person who has
 * started Roost.
 */
@ApplicationScoped
@Unremovable
class LocalApplication implements QuarkusApplication {
  private static final Logger LOG = Logger.getLogger(LocalApplication.class);

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
    boolean json = config.logFormat().equals(JsonLog.FORMAT);
    ready.fire(new Ready(json ? new PrintStream(OutputStream.nullOutputStream()) : System.out));
    if (json) {
      LOG.info("Roost is ready"); // Nobody watches, and some of these messages must not be logged.
    } else {
      printReady(key);
    }
    Runtime itself = ClientProxy.unwrap(runtime); // The proxy ends with the container.
    Quarkus.waitForExit();
    if (config.drain().isZero()) {
      // Close now: Quarkus would wait for open requests first, including executors' polls.
      itself.close();
    }
    return 0;
  }

  private void printReady(String key) {
    String url = LocalRuntime.executorUrl(config.host(), config.port());
    System.out.println("Roost is ready at " + url);
    firstKey.loginUrl().ifPresent(login -> System.out.println("Dashboard: " + url + login));
    System.out.println(key);
    if (runtime.sandbox().isNone()) {
      System.out.println("Scripts run without a sandbox: " + runtime.sandbox().message());
    }
    if (runtime.processLimit().isNone()) {
      System.out.println(
          runtime.processLimit().message() + " The kernel does not limit their processes.");
    }
  }
}
