package dev.roost.api;

import java.util.Arrays;
import java.util.List;

/**
 * A table of the page {@code /docs/errors}. Each bean of this type adds one, so that packages which
 * have reasons of their own (of builds, of executions) show them without being known here.
 *
 * @param id the anchor of the table
 * @param order tables with a lower one come first
 * @param introduction what the codes of this table are and where they appear
 */
public record ErrorTexts(String id, int order, String title, String introduction, List<Row> rows) {
  public ErrorTexts {
    rows = List.copyOf(rows);
  }

  /**
   * @param code as the API writes it
   * @param status of HTTP; null for what isn't an answer's
   * @param advice what it means and what to do about it
   */
  public record Row(String code, Integer status, String title, String advice) {}

  /** The codes of problem documents. */
  static ErrorTexts ofProblems() {
    return new ErrorTexts(
        "problems",
        0,
        "Error codes",
        "Every error answer is a problem document (RFC 9457) with one of these codes.",
        Arrays.stream(ErrorCode.values())
            .map(code -> new Row(code.code(), code.status(), code.title(), code.advice()))
            .toList());
  }
}
