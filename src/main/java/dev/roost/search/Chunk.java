package dev.roost.search;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Some lines and texts that are found together and then compared one by one. */
final class Chunk {
  /** The fewer, the more the index costs; the more, the more lines are compared in vain. */
  static final int LINES = 32;

  /** A tsvector must not exceed 1 MiB; one more text of {@link #TEXT_LIMIT} may follow. */
  private static final int CHARACTERS = 65_536;

  /** The characters of a text that are searched. A line of a log has at most 64 KiB. */
  static final int TEXT_LIMIT = 65_536;

  private static final Sql INSERT =
      Sql.of(
          """
          insert into search_chunk (slot, id, oldest, newest, executions, firsts, lasts, terms)
          select :slot, c.id, c.oldest, c.newest, string_to_array(c.executions, ' '),
            cast(string_to_array(c.firsts, ' ') as integer[]), cast(string_to_array(c.lasts, ' ') as integer[]),
            array_to_tsvector(string_to_array(c.terms, ' '))
          from unnest(:ids, :oldest, :newest, :executions, :firsts, :lasts, :terms)
            as c(id, oldest, newest, executions, firsts, lasts, terms)""");

  private final List<String> executions = new ArrayList<>();
  private final List<Integer> firsts = new ArrayList<>();
  private final List<Integer> lasts = new ArrayList<>();
  private final Set<String> terms = new HashSet<>();
  private Instant oldest = Instant.MAX;
  private Instant newest = Instant.MIN;
  private int lines;
  private int characters;

  boolean isFull() {
    return lines >= LINES || characters >= CHARACTERS;
  }

  /**
   * Adds a line of a log, or another text of an execution.
   *
   * @param place the line's number, or a {@link Kind}'s place
   */
  void add(String executionId, String agentId, int place, Instant time, String text) {
    int end = executions.size() - 1;
    if (end >= 0
        && place > 0
        && lasts.get(end) == place - 1
        && executions.get(end).equals(executionId)) {
      lasts.set(end, place);
    } else {
      executions.add(executionId);
      firsts.add(place);
      lasts.add(place);
    }
    terms.add(agentTerm(agentId));
    terms.add(Kind.at(place).term());
    Words.addIndexed(text, terms);
    oldest = time.isBefore(oldest) ? time : oldest;
    newest = time.isAfter(newest) ? time : newest;
    lines++;
    characters += text.length();
  }

  void addSource(String stream, String level) {
    terms.add(streamTerm(stream));
    if (level != null) {
      terms.add(levelTerm(level));
    }
  }

  static String agentTerm(String agentId) {
    return "@a:" + agentId;
  }

  static String streamTerm(String stream) {
    return "@s:" + stream;
  }

  /** Spaces separate terms when a chunk is stored. */
  static String levelTerm(String level) {
    String term = "@l:" + level.replaceAll("\\s", "_");
    return term.length() > 200 ? term.substring(0, 200) : term;
  }

  /** Stores chunks with increasing numbers. */
  static void insert(Connection connection, int slot, long firstId, List<Chunk> chunks)
      throws SQLException {
    int count = chunks.size();
    Long[] ids = new Long[count];
    for (int i = 0; i < count; i++) {
      ids[i] = firstId + i;
    }
    INSERT
        .with("slot", slot)
        .with("ids", ids)
        .with("oldest", chunks.stream().map(chunk -> chunk.oldest).toArray(Instant[]::new))
        .with("newest", chunks.stream().map(chunk -> chunk.newest).toArray(Instant[]::new))
        .with("executions", joined(chunks.stream().map(chunk -> chunk.executions).toList()))
        .with("firsts", joined(chunks.stream().map(chunk -> chunk.firsts).toList()))
        .with("lasts", joined(chunks.stream().map(chunk -> chunk.lasts).toList()))
        .with("terms", joined(chunks.stream().map(chunk -> List.copyOf(chunk.terms)).toList()))
        .update(connection);
  }

  private static String[] joined(List<? extends List<?>> values) {
    return values.stream()
        .map(list -> String.join(" ", list.stream().map(String::valueOf).toList()))
        .toArray(String[]::new);
  }

  Instant oldest() {
    return oldest;
  }

  Instant newest() {
    return newest;
  }
}
