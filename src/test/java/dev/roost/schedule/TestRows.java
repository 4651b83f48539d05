package dev.roost.schedule;

import io.quarkus.narayana.jta.QuarkusTransaction;

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
}
