package dev.roost.retention;

import dev.roost.agent.OldAgents;
import dev.roost.api.OldSessions;
import dev.roost.builds.OldBuilderJobs;
import dev.roost.builds.UnusedBuilds;
import dev.roost.bundle.OldBundles;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.ThrottledBatches;
import dev.roost.db.TransientErrors;
import dev.roost.event.OldEvents;
import dev.roost.execution.OldApprovalLinks;
import dev.roost.execution.OldExecutorJobs;
import dev.roost.execution.OldJobEvents;
import dev.roost.executor.OldExecutors;
import dev.roost.file.Files;
import dev.roost.file.OldFiles;
import dev.roost.issue.OldIssues;
import dev.roost.notification.OldMessages;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.search.SearchSegments;
import dev.roost.webhook.OldDeliveries;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jboss.logging.Logger;

/**
 * Removes old data, so that neither the database nor the runtime's disk or registry grows without
 * limit.
 */
@ApplicationScoped
public class Retention {
  private static final Logger LOG = Logger.getLogger(Retention.class);
  private static final Duration PAUSE = Duration.ofHours(1);

  /** Builds wait for a removal that has begun. */
  private static final Duration BEFORE_ANOTHER_LOOK = Duration.ofSeconds(10);

  /** Newer data without a Build may belong to a Build that is about to be stored. */
  private static final Duration UNKNOWN_FOR = Duration.ofDays(1);

  /** A file may be uploaded long before the job that reads it is submitted. */
  private static final Duration UNUSED_FILES = Duration.ofDays(1);

  /** A bundle is created before the agent's revision that refers to it. */
  private static final Duration UNUSED_BUNDLES = Duration.ofDays(1);

  private final RoostConfig.Retention settings;
  private final Clock clock;
  private final UnusedBuilds builds;
  private final Files files;
  private final ThrottledBatches batches;
  private final Loop loop;

  /** When the next complete pass is due, by {@code System.nanoTime}. */
  private long nextAt = System.nanoTime();

  Retention(
      Database database,
      Runtime runtime,
      Files files,
      RoostConfig config,
      Clock clock,
      Replicas replicas,
      Loops loops) {
    this.settings = config.retention();
    this.clock = clock;
    this.files = files;
    this.builds = new UnusedBuilds(runtime);
    this.batches = new ThrottledBatches(database, replicas::isHeld);
    this.loop = loops.make("retention", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    batches.stop();
    loop.stop();
  }

  private Duration pass() {
    try {
      boolean finished = attempt("removals that had begun", () -> builds.finishBegun(batches));
      if (System.nanoTime() - nextAt >= 0) {
        for (Map.Entry<String, Runnable> part : parts(clock.instant()).entrySet()) {
          finished &= attempt(part.getKey(), part.getValue());
        }
        nextAt = System.nanoTime() + PAUSE.toNanos();
      }
      return finished ? Duration.ofNanos(nextAt - System.nanoTime()) : BEFORE_ANOTHER_LOOK;
    } catch (ThrottledBatches.Interrupted e) {
      return BEFORE_ANOTHER_LOOK; // Another replica continues, or this one when it leads again.
    }
  }

  /** In this order: the later parts remove what the earlier ones no longer refer to. */
  private Map<String, Runnable> parts(Instant now) {
    Instant executions = now.minus(settings.executions());
    Instant unused = now.minus(settings.unusedBuilds());
    // Executors show when a Build was used last.
    Instant executors = executions.isBefore(unused) ? executions : unused;
    Map<String, Runnable> parts = new LinkedHashMap<>();
    parts.put("executor jobs", () -> OldExecutorJobs.remove(batches, executions));
    parts.put("links of approvals", () -> OldApprovalLinks.remove(batches, now));
    parts.put("job events", () -> OldJobEvents.remove(batches, now));
    parts.put("search", () -> SearchSegments.remove(batches, executions));
    parts.put("issues", () -> OldIssues.remove(batches, executions));
    parts.put("executors", () -> OldExecutors.remove(batches, executors));
    parts.put(
        "events",
        () -> OldEvents.remove(batches, now.minus(settings.events()), OldDeliveries::remove));
    parts.put("notifications", () -> OldMessages.remove(batches, now.minus(settings.events())));
    parts.put("sessions", () -> OldSessions.remove(batches, now));
    parts.put(
        "builder jobs", () -> OldBuilderJobs.remove(batches, now.minus(settings.builderJobs())));
    parts.put("deleted agents", () -> OldAgents.remove(batches, executions));
    parts.put("bundles", () -> OldBundles.remove(batches, now.minus(UNUSED_BUNDLES)));
    parts.put("files", () -> OldFiles.remove(batches, now.minus(UNUSED_FILES), files));
    parts.put("unused builds", () -> builds.remove(batches, unused, now));
    parts.put("rows of removed builds", () -> builds.deleteRows(batches));
    parts.put("leftovers", () -> builds.removeUnknown(batches, now.minus(UNKNOWN_FOR)));
    return parts;
  }

  /**
   * A failure of one part doesn't affect the others; but without a database none can work.
   *
   * @return whether the part has finished
   */
  private static boolean attempt(String name, Runnable part) {
    try {
      part.run();
      return true;
    } catch (RuntimeUnavailable e) {
      LOG.warnf("retention of %s: %s", name, e.getMessage());
    } catch (ThrottledBatches.Interrupted e) {
      throw e;
    } catch (RuntimeException e) {
      if (TransientErrors.isTransient(e)) {
        throw e;
      }
      LOG.errorf(e, "retention of %s failed", name);
    }
    return false;
  }
}
