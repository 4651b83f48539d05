package dev.roost.search;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A line of a log, or another text of an Execution, that matches. */
@Schema(name = "SearchMatch")
public record SearchMatch(
    @Schema(
            description =
                "Where the text is: in the log, the error, the payload or the return value")
        Kind in,
    @Schema(description = "The Execution") String executionId,
    @Schema(description = "The agent of the Execution") String agentId,
    @Schema(nullable = true, description = "The agent's name; null if it is not known any more")
        String agentName,
    @Schema(description = "When the line was written; otherwise when the Execution ended")
        Instant time,
    @Schema(
            nullable = true,
            description = "The number of the line in the log; null for other texts")
        Integer seq,
    @Schema(nullable = true, description = "The stream of the line; null for other texts")
        String stream,
    @Schema(nullable = true, description = "The level of the line; null if it has none")
        String level,
    @Schema(
            description =
                "The text in parts, matched and unmatched ones. Of a long text, some 1000 characters around "
                    + "the first match")
        List<Fragment> fragments,
    @Schema(description = "Whether the text is longer") boolean truncated,
    @Schema(description = "The lines of the log before it, oldest first") List<Line> before,
    @Schema(description = "The lines of the log after it, oldest first") List<Line> after,
    @Schema(description = "The path of the dashboard's page that shows the line or text")
        String path) {
  private static final int MOST_CHARACTERS = 1_000;
  private static final int BEFORE_FIRST_MATCH = 200;

  /** A part of a text. */
  @Schema(name = "SearchFragment")
  public record Fragment(
      @Schema(description = "The characters") String text,
      @Schema(description = "Whether they are a match") boolean match) {}

  /** A line near a match. */
  @Schema(name = "SearchContextLine")
  public record Line(
      @Schema(description = "The number of the line in the log") int seq,
      @Schema(description = "When the line was written") Instant time,
      @Schema(description = "The stream of the line") String stream,
      @Schema(nullable = true, description = "The level of the line; null if it has none")
          String level,
      @Schema(description = "The line; up to 500 characters") String text) {}

  /**
   * A match as it is found, before the names and the lines around it are read.
   *
   * @param marks at least one
   */
  static SearchMatch of(
      Kind kind,
      String executionId,
      Instant time,
      Integer seq,
      String stream,
      String level,
      String text,
      List<SearchQuery.Mark> marks) {
    int from = text.length() <= MOST_CHARACTERS ? 0 : marks.get(0).start() - BEFORE_FIRST_MATCH;
    from = Math.max(0, Math.min(from, text.length() - MOST_CHARACTERS));
    int to = Math.min(text.length(), from + MOST_CHARACTERS);
    from -= from > 0 && Character.isLowSurrogate(text.charAt(from)) ? 1 : 0;
    to -= to < text.length() && Character.isLowSurrogate(text.charAt(to)) ? 1 : 0;
    String path = "/executions/" + executionId + (seq == null ? "" : "?line=" + seq);
    return new SearchMatch(
        kind,
        executionId,
        null,
        null,
        time,
        seq,
        stream,
        level,
        fragments(text, from, to, marks),
        to - from < text.length(),
        List.of(),
        List.of(),
        path);
  }

  private static List<Fragment> fragments(
      String text, int from, int to, List<SearchQuery.Mark> marks) {
    List<Fragment> fragments = new ArrayList<>();
    int at = from;
    for (SearchQuery.Mark mark : marks) {
      int start = Math.max(at, mark.start());
      int end = Math.min(to, mark.end());
      if (start >= end) {
        continue;
      }
      if (start > at) {
        fragments.add(new Fragment(text.substring(at, start), false));
      }
      fragments.add(new Fragment(text.substring(start, end), true));
      at = end;
    }
    if (at < to) {
      fragments.add(new Fragment(text.substring(at, to), false));
    }
    return fragments;
  }

  SearchMatch withAgent(String id, String name) {
    return new SearchMatch(
        in,
        executionId,
        id,
        name,
        time,
        seq,
        stream,
        level,
        fragments,
        truncated,
        before,
        after,
        path);
  }

  SearchMatch withContext(List<Line> linesBefore, List<Line> linesAfter) {
    return new SearchMatch(
        in,
        executionId,
        agentId,
        agentName,
        time,
        seq,
        stream,
        level,
        fragments,
        truncated,
        linesBefore,
        linesAfter,
        path);
  }
}
