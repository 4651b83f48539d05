package dev.roost.history;

import dev.roost.history.StoreCall.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Finds out whose write each read saw, which version each value had, and which of the operations
 * whose end nobody knows have happened: those of which something was seen.
 */
final class Resolution {
  private record Value(String key, String value) {}

  private record Version(String key, long version) {}

  private final List<StoreCall> history;
  private final Map<Value, StoreCall> writers = new HashMap<>();
  private final Map<Value, Long> versions = new HashMap<>();
  private final Map<Version, StoreCall> makers = new HashMap<>();
  private final Set<String> seen = new HashSet<>();
  private final Map<Version, StoreCall> unnamed = new HashMap<>();
  private final List<Anomaly> anomalies = new ArrayList<>();

  Resolution(List<StoreCall> history) {
    this.history = history;
    history.forEach(this::learnWrites);
    history.forEach(this::learnReads);
    history.forEach(this::learnMakers);
    history.stream().filter(one -> one.outcome() == Outcome.OK).forEach(this::findWriters);
  }

  List<Anomaly> anomalies() {
    return anomalies;
  }

  /** What has happened, with every version that can be known. */
  List<StoreCall> happened() {
    List<StoreCall> happened = new ArrayList<>();
    for (StoreCall one : history) {
      if (one.outcome() == Outcome.OK || isProven(one)) {
        happened.add(resolved(one));
      }
    }
    happened.addAll(unnamed.values());
    return happened;
  }

  /** What may have happened, unseen, and may explain an absence. */
  List<StoreCall> possible() {
    return history.stream()
        .filter(one -> one.outcome() == Outcome.UNKNOWN && !isProven(one))
        .toList();
  }

  private boolean isProven(StoreCall one) {
    return one.outcome() == Outcome.UNKNOWN && seen.contains(one.id());
  }

  private void learnWrites(StoreCall one) {
    for (StoreWrite write : one.writes()) {
      if (!write.removes() && write.value() != null) {
        StoreCall other = writers.put(new Value(write.key(), write.value()), one);
        if (other != null) {
          throw new IllegalArgumentException("one value twice: " + one + " and " + other);
        }
        if (write.isPlaced()) {
          learn(one, write.key(), write.value(), write.version());
        }
      }
    }
  }

  private void learnReads(StoreCall one) {
    for (Read read : one.reads()) {
      if (read.value() != null && read.version() > 0) {
        learn(one, read.key(), read.value(), read.version());
      }
    }
  }

  private void learn(StoreCall one, String key, String value, long version) {
    Long other = versions.putIfAbsent(new Value(key, value), version);
    if (other != null && other != version) {
      String evidence =
          "the value %s of %s has version %d and, in %s, version %d\nwritten by %s"
              .formatted(value, key, other, one, version, writers.get(new Value(key, value)));
      anomalies.add(new Anomaly("write applied twice", evidence));
    }
  }

  private void learnMakers(StoreCall one) {
    if (one.outcome() == Outcome.FAILED) {
      return;
    }
    for (StoreWrite write : resolved(one).writes()) {
      if (!write.removes() && write.isPlaced()) {
        StoreCall other = makers.put(new Version(write.key(), write.version()), one);
        if (other != null) {
          String evidence = "version %d of %s\n%s\n%s";
          anomalies.add(
              new Anomaly(
                  "version written twice",
                  evidence.formatted(write.version(), write.key(), other, one)));
        }
      }
    }
  }

  private void findWriters(StoreCall reader) {
    for (Read read : reader.reads()) {
      if (!read.isAbsence()) {
        findWriter(reader, read.key(), read.version(), read.value());
      }
    }
    for (StoreWrite write : reader.writes()) {
      if (write.removes() && write.isPlaced()) {
        findWriter(reader, write.key(), write.version(), null);
      }
    }
  }

  private void findWriter(StoreCall reader, String key, long version, String value) {
    StoreCall writer = value == null ? null : writers.get(new Value(key, value));
    if (value == null) {
      writer = makers.get(new Version(key, version));
    }
    if (writer != null && writer.outcome() == Outcome.FAILED) {
      anomalies.add(new Anomaly("dirty read", writer + "\nis seen by\n" + reader));
    } else if (writer != null) {
      prove(writer);
    } else if (value != null || !mayBeOfSomeone(key, version)) {
      String what = "%s of %s, which nobody wrote, is seen by\n%s";
      anomalies.add(
          new Anomaly(
              "read of nothing written",
              what.formatted(StoreWrite.shown(version, value), key, reader)));
    }
  }

  /** Its reads were checked when it was done, so they count, too. */
  private void prove(StoreCall one) {
    if (one.outcome() == Outcome.UNKNOWN && seen.add(one.id())) {
      findWriters(one);
    }
  }

  /** A version without a value: of one of those that don't know theirs. */
  private boolean mayBeOfSomeone(String key, long version) {
    Version name = new Version(key, version);
    if (unnamed.containsKey(name)) {
      return true;
    }
    long taken = unnamed.keySet().stream().filter(one -> one.key.equals(key)).count();
    List<StoreCall> candidates =
        history.stream()
            .filter(one -> one.outcome() != Outcome.FAILED)
            .filter(
                one ->
                    resolved(one).writes().stream()
                        .anyMatch(
                            write ->
                                write.key().equals(key) && !write.removes() && !write.isPlaced()))
            .toList();
    if (candidates.size() <= taken) {
      return false;
    }
    long begin = candidates.stream().mapToLong(StoreCall::invoked).min().orElseThrow();
    String label = "someone of " + candidates.stream().map(StoreCall::id).toList();
    unnamed.put(
        name,
        new StoreCall(
            name.toString(),
            "?",
            candidates.size() > 5 ? "one of unknown outcome" : label,
            begin,
            StoreCall.NEVER,
            Outcome.UNKNOWN,
            List.of(),
            List.of(expiringAsAny(candidates, key).at(version))));
    return true;
  }

  /** It may be any of them, so it may expire as early as any does. */
  private static StoreWrite expiringAsAny(List<StoreCall> candidates, String key) {
    return candidates.stream()
        .flatMap(one -> one.writes().stream())
        .filter(write -> write.key().equals(key) && write.ttl() > 0)
        .min(Comparator.comparingLong(StoreWrite::ttl))
        .map(write -> new StoreWrite(key, StoreCall.UNSEEN, null, write.ttl(), false))
        .orElse(StoreWrite.of(key, StoreCall.UNSEEN));
  }

  private StoreCall resolved(StoreCall one) {
    List<Read> reads = one.reads().stream().map(this::resolved).toList();
    List<StoreWrite> writes =
        one.writes().stream()
            .map(
                write -> {
                  if (write.isPlaced()) {
                    return write;
                  }
                  return write.removes() ? removed(write, reads) : made(write);
                })
            .filter(Objects::nonNull)
            .toList();
    return one.with(reads, writes);
  }

  private Read resolved(Read read) {
    return read.version() >= 0 || read.value() == null
        ? read
        : read.at(versions.getOrDefault(new Value(read.key(), read.value()), StoreCall.UNSEEN));
  }

  private StoreWrite made(StoreWrite write) {
    return write.at(versions.getOrDefault(new Value(write.key(), write.value()), StoreCall.UNSEEN));
  }

  /** An operation that read and removed a key removed what it read; of an absent one, nothing. */
  private static StoreWrite removed(StoreWrite write, List<Read> reads) {
    for (Read read : reads) {
      if (read.key().equals(write.key())) {
        return read.isAbsence() ? null : write.at(read.version());
      }
    }
    return write;
  }
}
