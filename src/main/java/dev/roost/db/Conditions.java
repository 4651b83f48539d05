package dev.roost.db;

import jakarta.persistence.Query;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a list is filtered by: only what was asked for becomes part of the query. A condition that
 * may also be absent, {@code :x is null or …}, would keep the database from using its index.
 */
public final class Conditions {
  private final StringBuilder text = new StringBuilder("true");
  private final Map<String, Object> values = new LinkedHashMap<>();

  /**
   * @param condition SQL with that one parameter
   * @param value null: without this condition
   */
  public Conditions and(String condition, String parameter, Object value) {
    if (value != null) {
      text.append(" and ").append(condition);
      values.put(parameter, value);
    }
    return this;
  }

  /**
   * That the column has one of these values. They become part of the text, so that an index on rows
   * with some of them can be used.
   *
   * @param values of a closed list; empty: without this condition
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

  /** For after {@code where}. */
  public String text() {
    return text.toString();
  }

  /** Gives the query the values of the conditions that it has. */
  public <Q extends Query> Q bind(Q query) {
    values.forEach(query::setParameter);
    return query;
  }
}
