package dev.roost.issue;

import dev.roost.api.Ids;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * New failures of one issue.
 *
 * @param id of the issue, if it doesn't exist yet
 * @param failures in the order in which they ended; not empty
 */
record FailureGroup(String id, byte[] fingerprint, List<Failure> failures) {

  /**
   * Sorted by fingerprint, so that all transactions lock issues in the same order. Identifiers sort
   * by the first failure.
   *
   * @param failures in the order in which they ended
   */
  static List<FailureGroup> of(List<Failure> failures) {
    Map<String, FailureGroup> groups = new TreeMap<>();
    for (Failure failure : failures) {
      byte[] fingerprint = failure.fingerprint();
      groups
          .computeIfAbsent(
              HexFormat.of().formatHex(fingerprint),
              key -> new FailureGroup(Ids.next("issue"), fingerprint, new ArrayList<>()))
          .failures()
          .add(failure);
    }
    return List.copyOf(groups.values());
  }

  Failure first() {
    return failures.get(0);
  }

  Failure latest() {
    return failures.get(failures.size() - 1);
  }

  /**
   * Whether a resolved issue is back: an execution of the revision that ran when it was resolved,
   * or of a later one, has begun since and failed.
   */
  boolean regresses(Instant resolvedAt, int resolvedRevision) {
    return failures.stream()
        .anyMatch(
            failure ->
                failure.startedAt().isAfter(resolvedAt) && failure.revision() >= resolvedRevision);
  }

  /** Whether one of them ended at that time or later. */
  boolean hasOneSince(Instant time) {
    return !latest().finishedAt().isBefore(time);
  }

  Map<Instant, List<Failure>> byHour() {
    return by(failure -> failure.finishedAt().truncatedTo(ChronoUnit.HOURS));
  }

  Map<Integer, List<Failure>> byRevision() {
    return by(Failure::revision);
  }

  private <K> Map<K, List<Failure>> by(Function<Failure, K> key) {
    return failures.stream().collect(Collectors.groupingBy(key, TreeMap::new, Collectors.toList()));
  }
}
