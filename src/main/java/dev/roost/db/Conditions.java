package dev.roost.db;

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

  /** A condition without a parameter. */
  public Conditions and(String condition, boolean applies) {
    if (applies) {
      text.append(" and ").append(condition);
    }
    return this;
  }

  /**
   * Requires one of these values in the column. The values become part of the SQL text, so that
   * PostgreSQL can use a partial index.
   *
   * @param values empty: omit the condition
   */
  public Conditions in(String column, List<? extends Code> values) {
    if (!values.isEmpty()) {
      text.append(" and %s in ('%s')".formatted(column, String.join("', '", Code.of(values))));
    }
    return this;
  }

  /** The SQL text for {@code where}. */
  public String text() {
    return text.toString();
  }

  /**
   * A statement with the values of all conditions.
   *
   * @param statement contains {@link #text}
   */
  public Sql.Bound bind(String statement) {
    Sql.Bound bound = Sql.of(statement).with();
    values.forEach(bound::with);
    return bound;
  }
}
