package dev.roost.db;

import jakarta.persistence.Query;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The filter of a list: only the given conditions become part of the query. An optional condition
 * such as {@code :x is null or …} would prevent the use of an index.
 */
public final class Conditions {
  private final StringBuilder text = new StringBuilder("true");
  private final Map<String, Object> values = new LinkedHashMap<>();

  /**
   * @param condition SQL with that one parameter
   * @param value null: omit the condition
   */
  public Conditions and(String condition, String parameter, Object value) {
    if (value != null) {
      text.append(" and ").append(condition);
      values.put(parameter, value);
    }
    return this;
  }

  /**
   * Requires one of these values in the column. The values become part of the SQL text, so that
   * PostgreSQL can use a partial index.
   *
   * @param values from a closed list; empty: omit the condition
   */
  public Conditions in(String column, List<String> values) {
    if (!values.isEmpty()) {
      if (!values.stream().allMatch(value -> value.matches("[a-z_]+"))) {
        throw new IllegalArgumentException("not of a closed list: " + values);
      }
      text.append(" and %s in ('%s')".formatted(column, String.join("', '", values)));
    }
    return this;
  }

  /** The SQL text for {@code where}. */
  public String text() {
    return text.toString();
  }

  /** Binds the values of all conditions to the query. */
  public <Q extends Query> Q bind(Q query) {
    values.forEach(query::setParameter);
    return query;
  }
}
