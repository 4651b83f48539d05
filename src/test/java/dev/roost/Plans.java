package dev.roost;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;

/** How PostgreSQL would go about a statement. */
public final class Plans {
  private Plans() {}

  /**
   * Of any values of the parameters, as for a statement that is kept. The connection needs {@code
   * plan_cache_mode = force_generic_plan}.
   *
   * @param text with question marks for parameters
   */
  public static String of(Statement statement, String text) throws SQLException {
    StringBuilder query = new StringBuilder("prepare asked as ");
    int parameters = 0;
    boolean quoted = false;
    for (char c : text.toCharArray()) {
      quoted ^= c == '\'';
      query.append(c == '?' && !quoted ? "$" + ++parameters : String.valueOf(c));
    }
    statement.execute(query.toString());
    String values =
        parameters == 0
            ? ""
            : " (" + String.join(", ", Collections.nCopies(parameters, "null")) + ")";
    StringBuilder plan = new StringBuilder();
    try (ResultSet rows = statement.executeQuery("explain (costs off) execute asked" + values)) {
      while (rows.next()) {
        plan.append("  ").append(rows.getString(1)).append('\n');
      }
    }
    statement.execute("deallocate asked");
    return plan.toString();
  }
}
