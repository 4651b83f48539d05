package dev.roost.swarmnode;

import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;

/** The loop that removes uploads that nobody has confirmed in time. */
@ApplicationScoped
class ExpiredUploads {
  private static final Duration PAUSE = Duration.ofMinutes(5);

  private final Assets assets;
  private final Loop loop;

  ExpiredUploads(Assets assets, Loops loops) {
    this.assets = assets;
    this.loop = loops.make("expired-uploads", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    loop.stop();
  }

  private Duration pass() {
    return assets.removeExpired() ? Duration.ZERO : PAUSE;
  }
}
