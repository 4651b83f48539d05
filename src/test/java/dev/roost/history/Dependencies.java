package dev.roost.history;

import dev.roost.history.Graph.Edge;
import dev.roost.history.Graph.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The graph of what is certain, and for each key the versions in their order. */
final class Dependencies {
  /** One version of a key; nodes are -1 where there is none. */
  static final class Version {
    final long version;
    final int writer;
    final List<Integer> readers = new ArrayList<>();
    int remover = -1;
    int expiry = -1;
    Version next;

    Version(long version, int writer) {
      this.version = version;
      this.writer = writer;
    }
  }

  /** A write, or a removal, whose place among the versions nobody knows. */
  record Loose(int node, StoreWrite write) {}

  /** That a node read a key and found nothing. */
  record Absence(int node, Read read) {}

  /** All that concerns one key. */
  static final class Key {
    final TreeMap<Long, Version> versions = new TreeMap<>();
    final List<Loose> loose = new ArrayList<>();
    final List<Absence> absences = new ArrayList<>();
  }

  final Graph graph = new Graph();
  final Map<String, Key> keys = new TreeMap<>();
  final List<Anomaly> anomalies = new ArrayList<>();
  private final Map<String, Integer> looseWriters = new HashMap<>();

  /**
   * @param slack nanoseconds by which an expiry may be early or late
   */
  Dependencies(List<StoreCall> happened, List<StoreCall> possible, long slack) {
    Map<Integer, StoreCall> nodes = new TreeMap<>();
    happened.forEach(one -> nodes.put(add(one), one));
    nodes.forEach((node, one) -> addWrites(node, one, slack));
    for (StoreCall one : possible) {
      int node = add(one);
      for (StoreWrite write : one.writes()) {
        key(write.key()).loose.add(new Loose(node, write));
      }
    }
    nodes.forEach(this::addReads);
    nodes.forEach(this::addRemovals);
    keys.forEach(this::order);
    graph.addTime();
  }

  private int add(StoreCall one) {
    return graph.add(one.toString(), one.invoked(), one.latest());
  }

  private Key key(String name) {
    return keys.computeIfAbsent(name, key -> new Key());
  }

  private void addWrites(int node, StoreCall one, long slack) {
    for (StoreWrite write : one.writes()) {
      Key key = key(write.key());
      if (!write.isPlaced()) {
        key.loose.add(new Loose(node, write));
        looseWriters.put(write.key() + "\0" + write.value(), node);
      } else if (!write.removes()) {
        Version version = new Version(write.version(), node);
        key.versions.put(write.version(), version);
        if (write.ttl() > 0) {
          long latest =
              one.latest() == StoreCall.NEVER
                  ? StoreCall.NEVER
                  : one.latest() + write.ttl() + slack;
          String label = "(the expiry of %s)".formatted(write);
          version.expiry = graph.add(label, one.invoked() + write.ttl() - slack, latest);
        }
      }
    }
  }

  private void addReads(int node, StoreCall one) {
    for (Read read : one.reads()) {
      Key key = key(read.key());
      if (read.isAbsence()) {
        key.absences.add(new Absence(node, read));
      } else if (key.versions.containsKey(read.version())) {
        key.versions.get(read.version()).readers.add(node);
      } else {
        Integer writer = looseWriters.get(read.key() + "\0" + read.value());
        if (writer != null) {
          graph.connect(writer, node, Kind.WRITE_READ, read.key());
        }
      }
    }
  }

  private void addRemovals(int node, StoreCall one) {
    for (StoreWrite write : one.writes()) {
      Version version = key(write.key()).versions.get(write.version());
      if (write.removes() && version != null) {
        if (version.remover >= 0) {
          String evidence = graph.label(version.remover) + "\n" + one;
          anomalies.add(new Anomaly("version removed twice", evidence));
        }
        version.remover = node;
      }
    }
  }

  private void order(String name, Key key) {
    Version before = null;
    for (Version version : key.versions.values()) {
      if (before != null) {
        before.next = version;
        graph.connect(before.writer, version.writer, Kind.WRITE_WRITE, name);
      }
      before = version;
    }
    for (Version version : key.versions.values()) {
      for (int reader : version.readers) {
        graph.connect(version.writer, reader, Kind.WRITE_READ, name);
        if (version.next != null) {
          graph.connect(reader, version.next.writer, Kind.READ_WRITE, name);
        }
      }
      if (version.remover >= 0) {
        removals(name, version, version.remover).forEach(graph::connect);
      }
      if (version.expiry >= 0) {
        version.readers.forEach(reader -> graph.connect(seenBefore(reader, version.expiry, name)));
        graph.connect(version.writer, version.expiry, Kind.WRITE_WRITE, name);
      }
    }
    key.loose.stream()
        .filter(loose -> loose.write().removes() && graph.latest(loose.node()) != StoreCall.NEVER)
        .forEach(loose -> removeEarlier(name, key, loose.node()));
  }

  /** What follows when that node removed that version. */
  static List<Edge> removals(String name, Version version, int remover) {
    List<Edge> edges = new ArrayList<>();
    edges.add(new Edge(version.writer, remover, Kind.WRITE_WRITE, name, true, false));
    version.readers.forEach(reader -> edges.add(seenBefore(reader, remover, name)));
    if (version.next != null) {
      edges.add(new Edge(remover, version.next.writer, Kind.WRITE_WRITE, name, false, false));
    }
    return edges;
  }

  private static Edge seenBefore(int reader, int removal, String name) {
    return new Edge(reader, removal, Kind.READ_WRITE, name, true, false);
  }

  /** Whatever it removed: of what had been written before it began, nothing is there any more. */
  private void removeEarlier(String name, Key key, int remover) {
    for (Version version : key.versions.values()) {
      boolean before = graph.latest(version.writer) < graph.earliest(remover);
      boolean nextBefore =
          version.next != null && graph.latest(version.next.writer) < graph.earliest(remover);
      if (before && !nextBefore) {
        version.readers.forEach(reader -> graph.connect(seenBefore(reader, remover, name)));
      }
    }
  }
}
