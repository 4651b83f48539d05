package dev.roost.builds;

import dev.roost.cluster.Loop;
import dev.roost.cluster.Replicas;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.BaseLookup;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jboss.logging.Logger;

/** Periodically resolves the tags of the base images to digests. */
@ApplicationScoped
class BaseImageCheck {
  private static final Logger LOG = Logger.getLogger(BaseImageCheck.class);
  private static final Duration WHILE_GOING = Duration.ofSeconds(1);
  private static final Duration AT_REST = Duration.ofMinutes(1);

  private final Runtime runtime;
  private final Bases bases;
  private final Duration interval;
  private final Clock clock;
  private final Event<BasesChanged> changed;
  private final Loop loop;

  BaseImageCheck(
      Runtime runtime,
      Bases bases,
      RoostConfig config,
      Clock clock,
      Event<BasesChanged> changed,
      Replicas replicas) {
    this.runtime = runtime;
    this.bases = bases;
    this.interval = config.kubernetes().baseImageCheck();
    this.clock = clock;
    this.changed = changed;
    this.loop = new Loop("base-image-check", replicas, this::pass);
  }

  void start(@Observes StartupEvent event) {
    if (!interval.isZero()) {
      loop.start();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    loop.stop();
  }

  private Duration pass() {
    boolean going = false;
    Map<String, Bases.Image> known = bases.read();
    for (String version : runtime.describe().pythonVersions()) {
      if (isDue(known.get(version), runtime.baseIdentity(version), clock.instant())) {
        going |= look(version);
      }
    }
    if (going) {
      return WHILE_GOING;
    }
    return interval.compareTo(AT_REST) < 0 ? interval : AT_REST;
  }

  private boolean isDue(Bases.Image known, String reference, Instant now) {
    return known == null
        || !known.reference().equals(reference)
        || !known.checkedAt().plus(interval).isAfter(now);
  }

  /** Returns whether the lookup is still running. */
  private boolean look(String version) {
    String before = bases.current(version);
    try {
      BaseLookup lookup = runtime.lookUpBase(version);
      if (lookup.state() == BaseLookup.State.ENDED) {
        bases.note(version, lookup.reference(), lookup.digest(), lookup.message());
        if (!bases.current(version).equals(before)) {
          LOG.infof("the base image of Python %s is %s now", version, bases.current(version));
          changed.fire(new BasesChanged());
        }
        if (lookup.message() != null) {
          LOG.warnf("base image %s: %s", lookup.reference(), lookup.message());
        }
      }
      return lookup.state() == BaseLookup.State.GOING;
    } catch (RuntimeUnavailable e) {
      LOG.warnf("the base image of Python %s cannot be resolved: %s", version, e.getMessage());
      return false;
    }
  }
}
