package dev.roost.agent;

import dev.roost.cluster.Shared;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;

/** What executors report of the type hints of {@code main}, kept with the agent's revision. */
@ApplicationScoped
public class TypeHints {
  private static final Sql STORE =
      Sql.of(
          """
          update agent_revision r
          set hinted_input_schema = :input, hinted_output_schema = :output, hints_known = true
          from execution e
          where e.id = :execution and e.executor_id = :executor and not e.draft and r.agent_id = e.agent_id and r.revision = e.agent_revision
            and not r.hints_known
          returning r.agent_id""");

  private final Database database;
  private final Event<Stored> stored;

  TypeHints(Database database, Event<Stored> stored) {
    this.database = database;
    this.stored = stored;
  }

  /** Fired after an agent's revision has got schemas. */
  public record Stored(String agentId) implements Shared {}

  /**
   * Stores the schemas with the revision of an execution of that executor, unless they are known,
   * or it runs a draft.
   */
  public void store(String executorId, String executionId, HintedSchemas schemas) {
    Sql.Bound store =
        STORE
            .with("input", schemas.input())
            .with("output", schemas.output())
            .with("execution", executionId)
            .with("executor", executorId);
    database
        .once(connection -> store.first(connection, row -> row.getString("agent_id")))
        .filter(agentId -> schemas.input() != null)
        .ifPresent(agentId -> stored.fire(new Stored(agentId)));
  }
}
