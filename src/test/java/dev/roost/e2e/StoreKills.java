package dev.roost.e2e;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Kills at random what works on stores: executors, control plane, database. */
final class StoreKills {
  /** Runner or pod, sidecar or pod, control plane, connections, database. */
  static final int KINDS = 5;

  private final RoostProcess roost;
  private final Random random;
  private final Map<String, Integer> done = new TreeMap<>();

  StoreKills(RoostProcess roost, long seed) {
    this.roost = roost;
    this.random = new Random(seed);
  }

  /** One of them; most often an executor, since that is over soonest. */
  void killSomething() {
    kill(List.of(0, 0, 1, 1, 2, 3, 3, 4).get(random.nextInt(8)));
  }

  void kill(int kind) {
    switch (kind) {
      case 0 -> killExecutor("runner");
      case 1 -> killExecutor("sidecar");
      case 2 -> {
        count("control plane");
        roost.kill9();
        roost.start();
      }
      case 3 -> {
        count("connections of the database");
        StoreDatabase.terminateConnections(roost);
      }
      default -> {
        Machine.Running postmaster = Eventually.value("PostgreSQL runs", roost::findPostmaster);
        count("database");
        postmaster.kill();
      }
    }
  }

  /** On Kubernetes the whole pod. */
  private void killExecutor(String part) {
    if (roost.workers() instanceof PodWorkers pods) {
      List<String> choices = pods.executors();
      if (!choices.isEmpty()) {
        count("pod");
        pods.deletePodNamed(choices.get(random.nextInt(choices.size())), 0);
      }
      return;
    }
    List<Machine.Running> choices = part.equals("runner") ? roost.runners() : roost.sidecars();
    if (!choices.isEmpty()) {
      count(part);
      choices.get(random.nextInt(choices.size())).kill();
    }
  }

  private void count(String what) {
    done.merge(what, 1, Integer::sum);
  }

  @Override
  public String toString() {
    return "killed " + done;
  }
}
