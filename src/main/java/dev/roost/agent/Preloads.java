package dev.roost.agent;

import dev.roost.agent.PreloadedView.LeftOut;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What executors report of the imports of a revision: for the executors that start later, and for
 * people.
 */
public final class Preloads {
  /** The number of modules in a response that are left out. */
  static final int MOST_SHOWN = 200;

  /** An identical report changes nothing, since each executor of a revision may send one. */
  private static final Sql STORE =
      Sql.of(
          """
          with target as (
            select agent_id, revision from agent_revision
            where agent_id = :agent and revision = :revision and preload = 'auto'),
          stored as (
            insert into agent_preload as p (agent_id, revision, modules, packages, import_seconds, memory_bytes,
              left_out, reasons, updated_at)
            select agent_id, revision, :modules, :packages, :seconds, :bytes, :leftOut, :reasons, :now from target
            on conflict (agent_id, revision) do update set modules = excluded.modules, packages = excluded.packages,
              import_seconds = excluded.import_seconds, memory_bytes = excluded.memory_bytes,
              left_out = excluded.left_out, reasons = excluded.reasons, updated_at = excluded.updated_at
            where (p.modules, p.packages, p.import_seconds, p.memory_bytes, p.left_out, p.reasons)
              is distinct from (excluded.modules, excluded.packages, excluded.import_seconds, excluded.memory_bytes,
                excluded.left_out, excluded.reasons))
          select exists (select 1 from target) as wanted""");

  private static final Sql MODULES =
      Sql.of("select modules from agent_preload where agent_id = :agent and revision = :revision");

  private static final Sql VIEW =
      Sql.of(
          """
          select p.revision, cardinality(p.modules) as modules, p.import_seconds, p.memory_bytes, p.updated_at,
            p.packages,
            p.left_out[1:%1$d] as left_out, p.reasons[1:%1$d] as reasons
          from agent_preload p where p.agent_id = :agent and p.revision = :revision"""
              .formatted(MOST_SHOWN));

  private Preloads() {}

  /**
   * Stores a report in place of an earlier one of the same revision. Runs in the caller's
   * transaction.
   *
   * @return false if executors of the revision import nothing in advance, so that nothing was
   *     stored
   */
  public static boolean store(String agentId, PreloadReport report, Instant now) {
    return STORE
        .with("agent", agentId)
        .with("revision", report.revision())
        .with("modules", report.modules().toArray(String[]::new))
        .with("packages", report.packages().toArray(String[]::new))
        .with("seconds", report.importSeconds())
        .with("bytes", report.memoryBytes())
        .with("leftOut", report.leftOut().stream().map(LeftOut::module).toArray(String[]::new))
        .with("reasons", report.leftOut().stream().map(LeftOut::reason).toArray(String[]::new))
        .with("now", now)
        .first(AgentRevision.getEntityManager(), row -> row.getBoolean("wanted"))
        .orElseThrow();
  }

  /**
   * The modules that executors of a revision import in advance, in that order. Runs in the caller's
   * transaction.
   *
   * @return empty when no executor has reported them; a list without modules when there are none
   */
  public static Optional<List<String>> modules(String agentId, int revision) {
    return MODULES
        .with("agent", agentId)
        .with("revision", revision)
        .first(AgentRevision.getEntityManager(), row -> texts(row, "modules"));
  }

  /** What is known of a revision, for a person. Runs in the caller's transaction. */
  static Optional<PreloadedView> view(String agentId, int revision) {
    return VIEW.with("agent", agentId)
        .with("revision", revision)
        .first(AgentRevision.getEntityManager(), Preloads::view);
  }

  private static PreloadedView view(ResultSet row) throws SQLException {
    List<String> modules = texts(row, "left_out");
    List<String> reasons = texts(row, "reasons");
    List<LeftOut> leftOut = new ArrayList<>();
    for (int i = 0; i < modules.size(); i++) {
      leftOut.add(new LeftOut(modules.get(i), reasons.get(i)));
    }
    return new PreloadedView(
        row.getInt("revision"),
        row.getInt("modules"),
        texts(row, "packages"),
        row.getDouble("import_seconds"),
        row.getLong("memory_bytes"),
        leftOut,
        Sql.instant(row, "updated_at"));
  }

  private static List<String> texts(ResultSet row, String column) throws SQLException {
    return List.of((String[]) row.getArray(column).getArray());
  }
}
