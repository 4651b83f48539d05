package dev.roost.executor;

import dev.roost.api.Ids;
import dev.roost.config.RoostConfig;
import dev.roost.event.Loop;
import dev.roost.event.Replicas;
import dev.roost.runtime.Runtime;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * Removes what has ended long ago, so that neither the database nor the runtime's disk grows for
 * ever.
 */
@ApplicationScoped
public class Retention {
  private static final Logger LOG = Logger.getLogger(Retention.class);
  private static final Duration PAUSE = Duration.ofHours(1);

  /** Orders that one transaction removes: enough to be quick, few enough to hold nobody up. */
  private static final int BATCH = 500;

  private final EntityManager entities;
  private final Runtime runtime;
  private final RoostConfig.Retention settings;
  private final Clock clock;
  private final Loop loop;

  Retention(
      EntityManager entities, Runtime runtime, RoostConfig config, Clock clock, Replicas replicas) {
    this.entities = entities;
    this.runtime = runtime;
    this.settings = config.retention();
    this.clock = clock;
    this.loop = new Loop("retention", replicas, this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    loop.stop();
  }

  private Duration pass() {
    Instant executionsBefore = clock.instant().minus(settings.executions());
    while (QuarkusTransaction.requiringNew().call(() -> removeExecutions(executionsBefore))
        == BATCH) {
      LOG.debugf("removed %d more orders from before %s", BATCH, executionsBefore);
    }
    QuarkusTransaction.requiringNew().run(() -> removeExecutors(executionsBefore));
    Instant buildsBefore = clock.instant().minus(settings.unusedBuilds());
    for (String imageKey :
        QuarkusTransaction.requiringNew().call(() -> unusedBuilds(buildsBefore))) {
      if (runtime.hasBuild(imageKey)) {
        LOG.infof("removing the unused build %s", imageKey);
        runtime.deleteBuild(imageKey);
      }
    }
    return PAUSE;
  }

  /**
   * Removes orders that were made before then and have ended, with their Executions and logs;
   * answers how many.
   */
  int removeExecutions(Instant before) {
    // Identifiers sort by creation, so the primary key finds what is old.
    return entities
        .createNativeQuery(
            """
            with old as (
              select id from executor_job where id < :first and finished_at < :before order by id limit :batch),
            attempts as (select id from execution where executor_job_id in (select id from old)),
            lines as (delete from log_entry where owner_id in (select id from attempts)),
            gone as (delete from execution where id in (select id from attempts))
            delete from executor_job where id in (select id from old)""")
        .setParameter("first", Ids.first("xjob", before))
        .setParameter("before", before)
        .setParameter("batch", BATCH)
        .executeUpdate();
  }

  private void removeExecutors(Instant before) {
    entities
        .createNativeQuery(
            "delete from executor where id < :first and state = 'ended' and ended_at < :before")
        .setParameter("first", Ids.first("executor", before))
        .setParameter("before", before)
        .executeUpdate();
  }

  /**
   * Image keys of Builds that no living agent's current revision needs and nothing has run on since
   * then.
   */
  List<String> unusedBuilds(Instant before) {
    return entities
        .createNativeQuery(
            """
            select b.image_key from build b
            where b.created_at < :before
              and not exists (
                select 1 from agent a
                join agent_revision r on r.agent_id = a.id and r.revision = a.revision
                join builder_job j on j.id = r.builder_job_id
                where a.deleted_at is null and j.build_id = b.id)
              and not exists (select 1 from execution e where e.build_id = b.id and e.started_at >= :before)
              and not exists (select 1 from executor x where x.build_id = b.id and x.state <> 'ended')""",
            String.class)
        .setParameter("before", before)
        .getResultList();
  }
}
