package dev.roost.search;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What limits a search; empty or null: no limit.
 *
 * @param kinds at least one
 * @param agentIds null: any agent
 */
record SearchFilter(
    List<Kind> kinds,
    List<String> levels,
    List<String> streams,
    List<String> agentIds,
    Instant since,
    Instant until) {
  private static final Instant EARLIEST = Instant.EPOCH;
  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

  Instant from() {
    return since == null ? EARLIEST : since;
  }

  Instant to() {
    return until == null ? LATEST : until;
  }

  /** Lines alone have a level and a stream. */
  List<Kind> searched() {
    return levels.isEmpty() && streams.isEmpty()
        ? kinds
        : kinds.stream().filter(kind -> kind == Kind.LOGS).toList();
  }

  /** The condition for a chunk, as a tsquery that follows another one; or empty. */
  String condition() {
    List<String> conditions = new ArrayList<>();
    if (searched().size() < Kind.values().length) {
      add(conditions, searched().stream().map(Kind::term).toList());
    }
    add(conditions, levels.stream().map(Chunk::levelTerm).toList());
    add(conditions, streams.stream().map(Chunk::streamTerm).toList());
    if (agentIds != null) {
      add(conditions, agentIds.stream().map(Chunk::agentTerm).toList());
    }
    return conditions.stream().map(one -> " & " + one).collect(Collectors.joining());
  }

  private static void add(List<String> conditions, Collection<String> terms) {
    if (!terms.isEmpty()) {
      conditions.add(
          terms.stream().map(SearchQuery::quoted).collect(Collectors.joining(" | ", "(", ")")));
    }
  }
}
