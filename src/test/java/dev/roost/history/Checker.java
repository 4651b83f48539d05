package dev.roost.history;

import dev.roost.history.Graph.Edge;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides whether a history can come from a strictly serializable store: whether its operations
 * could have been done one after another, each at a moment between its call and its return. As Elle
 * does (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations",
 * VLDB 2020) it looks for cycles of what must have come before what; since the store tells the
 * versions, nothing needs to be inferred but when a key was absent.
 *
 * <p>What it can't see: what depends on writes of which neither value nor version was ever shown.
 */
public final class Checker {
  private Checker() {}

  /**
   * @param history of a store that was empty before it
   * @param slack nanoseconds by which an expiry may be early or late
   * @return nothing when all is well
   */
  public static List<Anomaly> check(List<StoreCall> history, long slack) {
    Resolution resolution = new Resolution(history);
    List<Anomaly> anomalies = new ArrayList<>(resolution.anomalies());
    if (!anomalies.isEmpty()) {
      return anomalies;
    }
    Dependencies dependencies =
        new Dependencies(resolution.happened(), resolution.possible(), slack);
    anomalies.addAll(dependencies.anomalies);
    Absences absences = new Absences(dependencies);
    anomalies.addAll(absences.connectCertain());
    List<Edge> cycle = dependencies.graph.cycle();
    if (!cycle.isEmpty()) {
      anomalies.add(Cycles.anomaly(dependencies.graph, cycle));
    }
    if (anomalies.isEmpty()) {
      anomalies.addAll(absences.solve());
    }
    return anomalies;
  }
}
