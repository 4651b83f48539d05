package dev.roost.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * What must have come before what. Time has nodes of its own, one for each return, in a chain: so
 * the order in real time takes a number of edges that is linear in the number of operations.
 */
final class Graph {
  /** Why one comes before the other. */
  enum Kind {
    WRITE_WRITE("is overwritten by"),
    WRITE_READ("is read by"),
    READ_WRITE("did not see"),
    TIME("returned before");

    final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /**
   * @param removal whether what the target did is a removal or an expiry
   * @param scanned whether the source read an absence in a range
   */
  record Edge(int from, int to, Kind kind, String key, boolean removal, boolean scanned) {}

  private record Node(String label, long earliest, long latest, boolean isTime) {}

  private final List<Node> nodes = new ArrayList<>();
  private final List<List<Edge>> edges = new ArrayList<>();
  private final List<List<Integer>> sources = new ArrayList<>();
  private int[] marks = new int[0];
  private int mark;

  /**
   * @param latest {@link StoreCall#NEVER} when it comes before nothing in real time
   */
  int add(String label, long earliest, long latest) {
    return add(new Node(label, earliest, latest, false));
  }

  private int add(Node node) {
    nodes.add(node);
    edges.add(new ArrayList<>());
    sources.add(new ArrayList<>());
    return nodes.size() - 1;
  }

  String label(int node) {
    return nodes.get(node).label;
  }

  long earliest(int node) {
    return nodes.get(node).earliest;
  }

  long latest(int node) {
    return nodes.get(node).latest;
  }

  boolean isTime(int node) {
    return nodes.get(node).isTime;
  }

  void connect(int from, int to, Kind kind, String key) {
    connect(new Edge(from, to, kind, key, false, false));
  }

  void connect(Edge edge) {
    if (edge.from != edge.to) {
      edges.get(edge.from).add(edge);
      sources.get(edge.to).add(edge.from);
    }
  }

  /** Takes back the latest edges, which must be these. */
  void disconnect(List<Edge> latest) {
    for (int i = latest.size() - 1; i >= 0; i--) {
      List<Edge> all = edges.get(latest.get(i).from);
      all.remove(all.size() - 1);
      List<Integer> before = sources.get(latest.get(i).to);
      before.remove(before.size() - 1);
    }
  }

  /** Adds the order in real time of all nodes that are there. */
  void addTime() {
    int operations = nodes.size();
    List<Integer> returns = new ArrayList<>();
    for (int node = 0; node < operations; node++) {
      if (latest(node) != StoreCall.NEVER) {
        returns.add(node);
      }
    }
    returns.sort(Comparator.comparingLong(this::latest));
    long[] times = new long[returns.size()];
    for (int i = 0; i < times.length; i++) {
      times[i] = latest(returns.get(i));
      int time = add(new Node("time " + times[i], times[i], times[i], true));
      connect(returns.get(i), time, Kind.TIME, null);
      if (i > 0) {
        connect(time - 1, time, Kind.TIME, null);
      }
    }
    for (int node = 0; node < operations; node++) {
      int found = Arrays.binarySearch(times, earliest(node));
      int before = found >= 0 ? found : -found - 1;
      while (before > 0 && times[before - 1] >= earliest(node)) {
        before--;
      }
      if (before > 0) {
        connect(operations + before - 1, node, Kind.TIME, null);
      }
    }
  }

  /**
   * Whether a way leads there, in a graph without a cycle and with time: what began after the
   * target had returned can't lead to it, and what returned before the target began does.
   */
  boolean reaches(int from, int to) {
    newMarks();
    long limit = latestSource(to);
    newMarks();
    Deque<Integer> open = new ArrayDeque<>(List.of(from));
    marks[from] = mark;
    while (!open.isEmpty()) {
      int node = open.pop();
      if (node == to || latest(node) < earliest(to)) {
        return true;
      }
      for (Edge edge : edges.get(node)) {
        if (marks[edge.to] != mark && earliest(edge.to) <= limit) {
          marks[edge.to] = mark;
          open.push(edge.to);
        }
      }
    }
    return false;
  }

  /** When the last of those returned that come right before; its own return where it has one. */
  private long latestSource(int node) {
    if (latest(node) != StoreCall.NEVER) {
      return latest(node);
    }
    marks[node] = mark;
    long latest = earliest(node);
    for (int source : sources.get(node)) {
      if (marks[source] != mark) {
        latest = Math.max(latest, latestSource(source));
      }
    }
    return latest;
  }

  private void newMarks() {
    mark++;
    if (marks.length < nodes.size()) {
      marks = new int[nodes.size()];
    }
  }

  /** A shortest way; the chain of time counts as one step. Empty when there is none. */
  List<Edge> path(int from, int to) {
    Edge[] by = new Edge[nodes.size()];
    boolean[] done = new boolean[nodes.size()];
    Deque<Integer> open = new ArrayDeque<>(List.of(from));
    while (!open.isEmpty()) {
      int node = open.pollFirst();
      if (done[node]) {
        continue;
      }
      done[node] = true;
      for (Edge edge : edges.get(node)) {
        if (by[edge.to] == null) {
          by[edge.to] = edge;
        }
        if (edge.to == to) {
          return way(by, from, to);
        }
        if (!done[edge.to]) {
          if (isTime(edge.from)) {
            open.addFirst(edge.to);
          } else {
            open.addLast(edge.to);
          }
        }
      }
    }
    return List.of();
  }

  private static List<Edge> way(Edge[] by, int from, int to) {
    List<Edge> way = new ArrayList<>();
    int node = to;
    do {
      way.add(0, by[node]);
      node = by[node].from;
    } while (node != from);
    return way;
  }

  /** A short cycle; empty when there is none. */
  List<Edge> cycle() {
    List<Edge> best = List.of();
    int looked = 0;
    for (int node : onCycles()) {
      if (!isTime(node) && (best.isEmpty() || looked++ < 200)) {
        List<Edge> found = path(node, node);
        if (!found.isEmpty() && (best.isEmpty() || steps(found) < steps(best))) {
          best = found;
        }
      }
    }
    return best;
  }

  private long steps(List<Edge> way) {
    return way.stream().filter(edge -> !isTime(edge.from)).count();
  }

  /** What is left when everything is taken away that nothing comes before. */
  private List<Integer> onCycles() {
    int[] before = new int[nodes.size()];
    edges.forEach(some -> some.forEach(edge -> before[edge.to]++));
    Deque<Integer> open = new ArrayDeque<>();
    for (int node = 0; node < before.length; node++) {
      if (before[node] == 0) {
        open.add(node);
      }
    }
    while (!open.isEmpty()) {
      for (Edge edge : edges.get(open.pop())) {
        if (--before[edge.to] == 0) {
          open.add(edge.to);
        }
      }
    }
    List<Integer> left = new ArrayList<>();
    for (int node = 0; node < before.length; node++) {
      if (before[node] > 0) {
        left.add(node);
      }
    }
    return left;
  }
}
