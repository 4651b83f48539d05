package dev.roost.api;

import java.util.Arrays;
import java.util.List;

/**
 * A table of the page {@code /docs/errors}. Each bean of this type adds a table, so that packages
 * with their own reasons (builds, executions) can add tables without a dependency from this
 * package.
 *
 * @param id the anchor of the table
 * @param order tables with a lower number come first
 * @param introduction what the codes of this table mean and where they appear
 */
public record ErrorTexts(String id, int order, String title, String introduction, List<Row> rows) {
  public ErrorTexts {
    rows = List.copyOf(rows);
  }

  /**
   * @param code the code in the API
   * @param status HTTP status; null for a code that is not part of an HTTP response
   * @param advice the meaning and the fix
   */
  public record Row(String code, Integer status, String title, String advice) {}

  /** The codes of problem documents. */
  static ErrorTexts ofProblems() {
    return new ErrorTexts(
        "problems",
        0,
        "Error codes",
        "Every error response is a problem document (RFC 9457) with one of these codes.",
        Arrays.stream(ErrorCode.values())
            .map(code -> new Row(code.code(), code.status(), code.title(), code.advice()))
            .toList());
  }
}
