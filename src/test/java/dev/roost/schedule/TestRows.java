package dev.roost.schedule;

import io.quarkus.narayana.jta.QuarkusTransaction;
import java.util.List;

/** A schedule's row, past the API. */
final class TestRows {
  private final String id;

  private TestRows(String id) {
    this.id = id;
  }

  static TestRows of(String id) {
    return new TestRows(id);
  }

  /** Its next time is the minute that has begun. */
  void dueNow() {
    set("next_run_at = date_trunc('minute', now()), due_at = date_trunc('minute', now())");
  }

  void set(String assignment) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                Schedule.getEntityManager()
                    .createNativeQuery("update schedule set " + assignment + " where id = :id")
                    .setParameter("id", id)
                    .executeUpdate());
  }

  /** When it is due, as the API would show it; a list with this one element. */
  List<String> dueAt() {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                Schedule.getEntityManager()
                    .createNativeQuery(
                        "select rfc3339(due_at) from schedule where id = :id", String.class)
                    .setParameter("id", id)
                    .getResultList());
  }

  /** As many jobs wait as may. */
  static void fillQueue(String agentId) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                Schedule.getEntityManager()
                    .createNativeQuery(
                        """
                        insert into executor_job (id, agent_id, agent_revision, state, created_at)
                        select 'xjob_' || :agent || i, :agent, 1, 'queued', now() from generate_series(1, 10000) i""")
                    .setParameter("agent", agentId)
                    .executeUpdate());
  }
}
