package dev.roost.history;

import dev.roost.history.Graph.Edge;
import dev.roost.history.Graph.Kind;
import java.util.ArrayList;
import java.util.List;

/** Names and describes cycles. */
final class Cycles {
  private Cycles() {}

  static Anomaly anomaly(Graph graph, List<Edge> cycle) {
    List<Edge> steps = steps(graph, cycle);
    return new Anomaly(name(graph, steps), describe(graph, cycle));
  }

  /** Adya's names, and those of their usual forms. */
  private static String name(Graph graph, List<Edge> steps) {
    List<Edge> unseen = steps.stream().filter(edge -> edge.kind() == Kind.READ_WRITE).toList();
    boolean inTime = steps.stream().anyMatch(edge -> edge.kind() == Kind.TIME);
    boolean isRead = steps.stream().anyMatch(edge -> edge.kind() == Kind.WRITE_READ);
    if (unseen.isEmpty()) {
      if (isRead) {
        return inTime ? "read of a later write" : "circular information flow (G1c)";
      }
      return inTime ? "versions that fall" : "write cycle (G0)";
    }
    if (unseen.stream().anyMatch(Edge::scanned)) {
      return "phantom";
    }
    if (unseen.size() > 1) {
      return "write skew (G2)";
    }
    Edge only = unseen.get(0);
    if (only.removal()) {
      return graph.label(only.to()).startsWith("(the expiry")
          ? "read after expiry"
          : "read of a removed version";
    }
    if (steps.size() == 2 && inTime) {
      return "stale read";
    }
    boolean overwritten =
        steps.stream()
            .anyMatch(edge -> edge.kind() == Kind.WRITE_WRITE && edge.key().equals(only.key()));
    return overwritten ? "lost update" : "read skew (G-single)";
  }

  /** One operation a line, and why it comes before the next. */
  static String describe(Graph graph, List<Edge> way) {
    List<Edge> steps = steps(graph, way);
    StringBuilder text = new StringBuilder();
    for (Edge step : steps) {
      String key = step.key() == null ? "" : " (" + step.key() + ")";
      text.append(label(graph, step.from())).append('\n');
      text.append("    ").append(step.kind().text).append(key).append('\n');
    }
    return text.append(label(graph, steps.get(steps.size() - 1).to())).append('\n').toString();
  }

  private static String label(Graph graph, int node) {
    String latest =
        graph.latest(node) == StoreCall.NEVER ? "?" : Long.toString(graph.latest(node) / 1000);
    return "%s [%d to %s us]".formatted(graph.label(node), graph.earliest(node) / 1000, latest);
  }

  /** The chain of time between two operations as one step. */
  private static List<Edge> steps(Graph graph, List<Edge> way) {
    List<Edge> steps = new ArrayList<>();
    int from = -1;
    for (Edge edge : way) {
      if (from < 0) {
        from = edge.from();
      }
      if (!graph.isTime(edge.to())) {
        Kind kind = graph.isTime(edge.from()) ? Kind.TIME : edge.kind();
        steps.add(new Edge(from, edge.to(), kind, edge.key(), edge.removal(), edge.scanned()));
        from = -1;
      }
    }
    return steps;
  }
}
