package dev.roost.agent;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.cluster.NotificationsLost;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Checks payloads against the schemas of agents. Schemas are kept in memory, also when there is
 * none, so that a submission costs no statement more: it names the revision that it was checked
 * for, and nothing is inserted when another one runs.
 */
@ApplicationScoped
public class InputSchemas {
  /** Characters of the schemas in memory, which take some twenty times that when they are used. */
  private static final long MOST_CHARACTERS = 4 << 20;

  /** What an agent without a schema counts for. */
  private static final int LEAST_CHARACTERS = 256;

  private static final Sql READ =
      Sql.of(
          """
          select r.revision, coalesce(r.input_schema, r.hinted_input_schema) as input_schema from agent a
          join agent_revision r on r.agent_id = a.id and r.revision = coalesce(a.running_revision, a.revision)
          where a.id = :agent and a.deleted_at is null""");

  /** Of an agent that doesn't exist: no revision has this number. */
  private static final Current NONE = new Current(0, null, 0);

  private final Database database;
  private final Cache<String, Current> known =
      Caffeine.newBuilder()
          .maximumWeight(MOST_CHARACTERS)
          .weigher((String agentId, Current current) -> LEAST_CHARACTERS + current.characters())
          .build();

  InputSchemas(Database database) {
    this.database = database;
  }

  /**
   * @param revision that new jobs run
   * @param schema null: any payload
   */
  private record Current(int revision, ValueSchema schema, int characters) {
    static Current read(ResultSet row) throws SQLException {
      String text = row.getString("input_schema");
      return text == null
          ? new Current(row.getInt("revision"), null, 0)
          : new Current(row.getInt("revision"), ValueSchema.of(new JsonText(text)), text.length());
    }

    List<Problem.FieldError> mistakes(Payloads payloads) {
      if (schema == null) {
        return List.of();
      }
      List<Problem.FieldError> mistakes = new ArrayList<>();
      ValueSchema.Budget budget = new ValueSchema.Budget();
      for (int i = 0; i < payloads.count() && mistakes.size() < ValueSchema.MOST_MISTAKES; i++) {
        mistakes.addAll(
            schema.mistakes(payloads.text().apply(i), payloads.pointer().apply(i), budget));
      }
      return mistakes;
    }
  }

  /**
   * The payloads of a request.
   *
   * @param text of each, null for JSON null
   * @param pointer of each in the request, such as "/payloads/3"
   */
  public record Payloads(
      int count, Function<Integer, JsonText> text, Function<Integer, String> pointer) {
    /** The payload of a request with one. */
    public static Payloads one(JsonText payload) {
      return new Payloads(1, i -> payload, i -> "/payload");
    }
  }

  /**
   * Submits payloads that match the schema of the revision that runs.
   *
   * @param submission gets the number of that revision, and fails if another one runs by then
   * @param earlier what an earlier request with the same Idempotency-Key has created, or null: its
   *     answer is the same when the schema has changed in the meantime
   * @throws Problem validation_failed
   */
  public <T> T submit(
      String agentId, Payloads payloads, Function<Integer, T> submission, Supplier<T> earlier) {
    Current current = known.getIfPresent(agentId);
    if (current == null) {
      current = read(agentId);
    }
    while (true) {
      List<Problem.FieldError> mistakes = current.mistakes(payloads);
      RuntimeException failure;
      if (mistakes.isEmpty()) {
        try {
          return submission.apply(current.revision());
        } catch (Problem e) {
          failure = e;
        }
      } else {
        T found = earlier.get();
        if (found != null) {
          return found;
        }
        failure = Problem.invalid(mistakes);
      }
      Current now = read(agentId);
      if (now.revision() == current.revision()) {
        throw failure;
      }
      current = now;
    }
  }

  /**
   * Checks a payload that is kept for later.
   *
   * @param payload null: JSON null
   * @throws Problem validation_failed
   */
  public void check(String agentId, JsonText payload) {
    List<Problem.FieldError> mistakes = read(agentId).mistakes(Payloads.one(payload));
    if (!mistakes.isEmpty()) {
      throw Problem.invalid(mistakes);
    }
  }

  void hintsAreKnown(@Observes TypeHints.Stored event) {
    known.invalidate(event.agentId());
  }

  void notificationsAreLost(@Observes NotificationsLost event) {
    known.invalidateAll();
  }

  private Current read(String agentId) {
    Sql.Bound select = READ.with("agent", agentId);
    Current current = database.once(c -> select.first(c, Current::read)).orElse(NONE);
    if (current == NONE) {
      known.invalidate(agentId);
    } else {
      known.put(agentId, current);
    }
    return current;
  }
}
