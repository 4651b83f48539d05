package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestDatabase;
import dev.roost.api.Ids;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class RetentionIT {
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");
  private static final Instant LONG_AGO = NOW.minus(Duration.ofDays(60));
  private static final Instant BEFORE = NOW.minus(Duration.ofDays(30));

  @Inject Retention retention;
  @Inject EntityManager entities;

  @Test
  void onlyOrdersThatEndedLongAgoGoWithTheirExecutionsAndLogs() {
    String old = order("old", LONG_AGO, "succeeded", LONG_AGO);
    String running = order("running", LONG_AGO, "running", null);
    String endedLately = order("late", LONG_AGO, "succeeded", NOW);
    String fresh = order("fresh", NOW, "succeeded", NOW);

    assertEquals(
        1, QuarkusTransaction.requiringNew().call(() -> retention.removeExecutions(BEFORE)));

    assertEquals(0, rows(old));
    for (String kept : List.of(running, endedLately, fresh)) {
      assertEquals(3, rows(kept), kept);
    }
  }

  @Test
  void aBuildIsUnusedWhenNothingHasRunOnItLately() {
    String unused = build(LONG_AGO);
    String young = build(NOW);
    String used = build(LONG_AGO);
    String order = order("used", NOW, "succeeded", NOW);
    run("update execution set build_id = ?1 where executor_job_id = ?2", used, order);

    List<String> keys =
        QuarkusTransaction.requiringNew().call(() -> retention.unusedBuilds(BEFORE));

    assertTrue(keys.contains("key of " + unused));
    assertEquals(
        List.of(),
        keys.stream().filter(List.of("key of " + young, "key of " + used)::contains).toList());
  }

  @Test
  void identifiersSortAfterTheFirstOfTheirTime() {
    Instant before = Instant.now();
    String made = Ids.next("xjob");
    assertTrue(Ids.first("xjob", before).compareTo(made) <= 0);
    assertTrue(Ids.first("xjob", before.plusSeconds(60)).compareTo(made) > 0);
  }

  private String build(Instant createdAt) {
    String id = Ids.next("build");
    run(
        """
        insert into build (id, image_key, python_version, packages, size_bytes, duration_seconds, created_at)
        values (?1, 'key of ' || ?1, '3.13', '[]', 1, 1, ?2)""",
        id,
        createdAt);
    return id;
  }

  /** An order with one execution and one line of log. */
  private String order(String name, Instant createdAt, String state, Instant finishedAt) {
    String id = Ids.first("xjob", createdAt) + name;
    String execution = Ids.next("exec");
    run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at, finished_at)
        values (?1, 'agent_of_nobody', 1, ?2, ?3, cast(?4 as timestamptz))""",
        id,
        state,
        createdAt,
        finishedAt);
    run(
        """
        insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
          started_at, cold_start, queued_seconds)
        values (?1, ?2, 'agent_of_nobody', 1, 'build_', ?1, 1, 'succeeded', ?3, false, 0)""",
        execution,
        id,
        createdAt);
    run(
        """
        insert into log_entry (owner_id, seq, time, stream, message, continued)
        values (?1, 1, ?2, 'stdout', 'hello', false)""",
        execution,
        createdAt);
    return id;
  }

  /** How many rows an order has in all tables together. */
  private int rows(String orderId) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                ((Number)
                        entities
                            .createNativeQuery(
                                """
                                select (select count(*) from executor_job where id = :id)
                                  + (select count(*) from execution where executor_job_id = :id)
                                  + (select count(*) from log_entry l join execution e on e.id = l.owner_id
                                     where e.executor_job_id = :id)""")
                            .setParameter("id", orderId)
                            .getSingleResult())
                    .intValue());
  }

  private void run(String sql, Object... parameters) {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              var query = entities.createNativeQuery(sql);
              for (int i = 0; i < parameters.length; i++) {
                query.setParameter(i + 1, parameters[i]);
              }
              query.executeUpdate();
            });
  }
}
