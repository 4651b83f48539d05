package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.api.Cursor;
import dev.roost.api.NameSearch;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Sort;
import dev.roost.db.Code;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The list of agents: filtered, sorted, and in pages. */
final class AgentList {
  /** The days in which failures are counted; {@link AgentActivity} shows the same. */
  private static final Duration RECENT = Duration.ofDays(7);

  private AgentList() {}

  /** What a list of agents can be sorted by. */
  public enum Key implements Code {
    CREATED("a.id", "text", ""),
    NAME("lower(a.name) collate \"C\"", "text", ""),
    /** Identifiers of Executions sort by their start. */
    LAST_EXECUTION(
        "coalesce((select max(e.id) from execution e where e.agent_id = a.id and not e.draft), '')",
        "text",
        ""),
    FAILURES(
        "coalesce(f.failures, 0)",
        "bigint",
        """
        left join (
          select agent_id, count(*) as failures from execution
          where state in ('failed', 'timed_out', 'lost') and finished_at >= :since and finished_at <= :now
            and not draft
          group by agent_id) f on f.agent_id = a.id""");

    private final String expression;
    private final String type;
    private final String join;

    Key(String expression, String type, String join) {
      this.expression = expression;
      this.type = type;
      this.join = join;
    }

    @Override
    @JsonValue
    public String code() {
      return Code.of(this);
    }
  }

  /**
   * Null or empty: no filter.
   *
   * @param name exact
   * @param words from {@link NameSearch#words}
   * @param untagged only agents without a tag
   */
  record Filter(String name, String[] words, List<String> tags, boolean untagged) {
    private Conditions conditions() {
      Conditions conditions =
          new Conditions()
              .and("a.name = :name", "name", name)
              .and(NameSearch.condition("a.name"), "words", words)
              .and("not exists (select from agent_tag t where t.agent_id = a.id)", untagged);
      return AgentTags.having(conditions, "a.id", tags);
    }
  }

  private record Row(Page.Sized sized, String key) {}

  /**
   * @param cursor the query parameter, or null
   * @param load loads the views of agents, in any order
   * @throws Problem validation_failed for a cursor of another order
   */
  static <T> Page<T> page(
      Filter filter,
      Sort<Key> sort,
      String cursor,
      int limit,
      Instant now,
      Function<List<Agent>, List<T>> load) {
    boolean newest = sort.key() == Key.CREATED;
    Sort.Position position =
        newest
            ? (cursor == null ? null : new Sort.Position(Cursor.id("agent", cursor), cursor))
            : sort.position("agents", cursor);
    List<Row> rows = rows(filter, sort, position, limit, now);
    Map<String, String> keys = new HashMap<>();
    rows.forEach(row -> keys.put(row.sized().id(), row.key()));
    Page<T> page =
        Page.fitting(
            rows.stream().map(Row::sized).toList(), limit, ids -> load.apply(inOrder(ids)));
    return newest || page.nextCursor() == null
        ? page
        : new Page<>(
            page.data(),
            sort.cursor(
                "agents", new Sort.Position(keys.get(page.nextCursor()), page.nextCursor())));
  }

  private static List<Row> rows(
      Filter filter, Sort<Key> sort, Sort.Position position, int limit, Instant now) {
    Key key = sort.key();
    Conditions conditions = filter.conditions();
    if (position != null) {
      conditions.and(
          "(%s, a.id) %s (cast(:key as %s), :id)".formatted(key.expression, sort.after(), key.type),
          "key",
          value(key, position.value()));
    }
    String statement =
        """
        select l.id, l.key, %5$s + coalesce(octet_length(l.tool_description), 0) as bytes
        from (
          select a.id, a.revision, a.tool_description, %1$s as key from agent a %2$s
          where a.deleted_at is null and %3$s order by %1$s %4$s, a.id %4$s limit :most) l
        join agent_revision r on r.agent_id = l.id and r.revision = l.revision
        order by l.key %4$s, l.id %4$s"""
            .formatted(
                key.expression, key.join, conditions.text(), sort.direction(), AgentRevision.BYTES);
    Sql.Bound bound = conditions.bind(statement).with("most", limit + 1);
    if (position != null) {
      bound.with("id", position.id());
    }
    if (key == Key.FAILURES) {
      bound.with("since", now.minus(RECENT)).with("now", now);
    }
    return bound.list(
        Agent.getEntityManager(), row -> new Row(Page.Sized.of(row), row.getString("key")));
  }

  private static Object value(Key key, String text) {
    if (key != Key.FAILURES) {
      return text;
    }
    if (!text.matches("\\d{1,18}")) {
      throw Cursor.invalid();
    }
    return Long.valueOf(text);
  }

  private static List<Agent> inOrder(List<String> ids) {
    Map<String, Agent> agents =
        Agent.<Agent>list("id in ?1", ids).stream()
            .collect(Collectors.toMap(agent -> agent.id, agent -> agent));
    return ids.stream().map(agents::get).filter(Objects::nonNull).toList();
  }
}
