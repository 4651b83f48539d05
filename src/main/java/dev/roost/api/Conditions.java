package dev.roost.api;

import jakarta.persistence.Query;
import java.util.LinkedHashMap;
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
