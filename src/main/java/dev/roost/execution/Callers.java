package dev.roost.execution;

import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import dev.roost.state.ExecutorJobState;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;

/** Lets suspended jobs continue when jobs that they have called have ended. */
@ApplicationScoped
class Callers implements EventLog.Follower {
  /** The types of events that tell of the end of a job. */
  static final String[] ENDS =
      Arrays.stream(ExecutorJobState.values())
          .filter(ExecutorJobState::isFinal)
          .map(state -> "executor_job." + state.code())
          .toArray(String[]::new);

  /** In one order, so that two replicas that both believe to lead don't wait for each other. */
  private static final Sql LOCK =
      Sql.of(
          """
          select id from executor_job where id in (
            select c.parent_id from event e join executor_job c on c.id = e.subject
            where e.position between :first and :last and e.type = any(:types) and c.parent_id is not null)
          order by id for update""");

  /** After the lock, so that a job that was just being suspended is seen. */
  private static final Sql DUE =
      Sql.of(
          """
          update executor_job p set resume_at = now()
          where p.id = any(:callers) and p.state = 'suspended' and not (p.awaits_all and exists (
            select 1 from executor_job c where c.parent_id = p.id and c.finished_at is null))""");

  @Override
  public void placed(Connection connection, long first, long last) throws SQLException {
    List<String> callers =
        LOCK.with("first", first).with("last", last).with("types", ENDS).strings(connection);
    if (!callers.isEmpty()) {
      String[] all = callers.toArray(String[]::new);
      JobCalls.RESOLVE_CALLS.with("callers", all).update(connection);
      DUE.with("callers", all).update(connection);
    }
  }
}
