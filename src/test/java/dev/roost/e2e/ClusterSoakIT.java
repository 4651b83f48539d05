package dev.roost.e2e;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Random faults of a cluster whose nodes are this machine, under a steady stream of executions;
 * then the books are balanced.
 */
@Tag("soak")
@KubernetesOnly
@Isolated("parts of the cluster are away meanwhile")
class ClusterSoakIT {
  private static final Duration TIME = Duration.ofMinutes(Integer.getInteger("soak.minutes", 10));
  private static final long SEED = Long.getLong("soak.seed", 1);
  private static final int AGENTS = 3;
  private static final int JOBS_BETWEEN_FAULTS = Integer.getInteger("soak.jobs", 3);
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static final Duration LONGEST_ABSENCE = Duration.ofSeconds(30);

  private final Random random = new Random(SEED);

  @Test
  void nothingAcknowledgedIsLostAndNothingIsLeftWhateverFails() throws Exception {
    ClusterParts cluster = ClusterParts.get();
    try (RoostProcess roost =
        RoostProcess.started(
            "ROOST_EXECUTORS_LEASE", "15s",
            "ROOST_EXECUTORS_LOST_AFTER", "30s",
            "ROOST_KUBERNETES_MAX_EXECUTORS", "16", // more than the jobs take, so that pools stay
            "ROOST_EXECUTORS_POOL", "3")) {
      PodWorkers pods = (PodWorkers) roost.workers();
      SteadyJobs jobs = new SteadyJobs(roost.client(), AGENTS, 0.05, LIMIT);
      ClusterNodes nodes = new ClusterNodes(pods);
      long end = System.nanoTime() + TIME.toNanos();
      while (System.nanoTime() < end) {
        jobs.awaitMore(JOBS_BETWEEN_FAULTS);
        fail(roost, pods, cluster, nodes, jobs);
      }
      jobs.settle();
      System.out.println("Soak (seed " + SEED + "): " + jobs);
      jobs.assertBalanced();
      pods.assertNothingIsLeft(roost.client());
    }
  }

  private void fail(
      RoostProcess roost,
      PodWorkers pods,
      ClusterParts cluster,
      ClusterNodes nodes,
      SteadyJobs jobs) {
    int percent = random.nextInt(100);
    if (percent < 15) {
      deletePod(pods, 30, jobs);
    } else if (percent < 30) {
      deletePod(pods, 0, jobs);
    } else if (percent < 40) {
      jobs.count("pods of pools deleted", pods.killPooled());
    } else if (percent < 60) {
      killProcess(pods, jobs);
    } else if (percent < 70) {
      killTemplate(pods, jobs);
    } else if (percent < 80) {
      jobs.count("killed control planes", 1);
      roost.kill9();
      roost.start();
    } else if (percent < 87) {
      jobs.count("API server stopped", 1);
      try (ClusterParts.Stopped apiServer = cluster.stop(ClusterParts.API_SERVER)) {
        awaitSome(jobs);
      }
    } else if (percent < 95) {
      String part = random.nextBoolean() ? ClusterParts.KUBELET : ClusterParts.CONTAINERD;
      jobs.count(part + " restarted", 1);
      cluster.restart(part);
    } else if (percent < 99) {
      drainNode(nodes, jobs);
    } else {
      stopNode(cluster, nodes, jobs);
    }
  }

  /** Up to some jobs, for as long as a part of the cluster is away. */
  private void awaitSome(SteadyJobs jobs) {
    jobs.awaitMore(random.nextInt(3 * JOBS_BETWEEN_FAULTS), LONGEST_ABSENCE);
  }

  /** With another node, work goes on there; without one, until the node accepts pods again. */
  private void drainNode(ClusterNodes nodes, SteadyJobs jobs) {
    List<String> choices = nodes.inUse();
    if (!choices.isEmpty()) {
      jobs.count("nodes drained", 1);
      try (ClusterNodes.Drained node = nodes.drain(any(choices))) {
        awaitSome(jobs);
      }
    }
  }

  /** Its kubelet and all processes of its pods are gone at once. */
  private void stopNode(ClusterParts cluster, ClusterNodes nodes, SteadyJobs jobs) {
    if (!cluster.nodes().isEmpty()) {
      jobs.count("nodes stopped", 1);
      String node = any(cluster.nodes());
      try (ClusterParts.Stopped stopped = cluster.stop(node)) {
        nodes.awaitReady(node, false);
        awaitSome(jobs);
      }
      nodes.awaitReady(node, true);
    }
  }

  private void deletePod(PodWorkers pods, int graceSeconds, SteadyJobs jobs) {
    List<String> choices = pods.executors();
    if (!choices.isEmpty()) {
      jobs.count("pods deleted with a grace of " + graceSeconds + " s", 1);
      pods.deletePodNamed(any(choices), graceSeconds);
    }
  }

  /** Any process of any container: sidecar, runner, or a script's own. */
  private void killProcess(PodWorkers pods, SteadyJobs jobs) {
    List<String> choices = pods.executors();
    if (choices.isEmpty()) {
      return;
    }
    List<Machine.Running> processes = processesOf(any(choices));
    if (!processes.isEmpty()) {
      Machine.Running victim = any(processes);
      jobs.count(
          victim.command().contains(" runner ") ? "killed runners or scripts" : "killed sidecars",
          1);
      victim.kill();
    }
  }

  private void killTemplate(PodWorkers pods, SteadyJobs jobs) {
    List<Machine.Running> templates =
        pods.executors().stream()
            .flatMap(pod -> Machine.templates(runnersAndForks(pod)).stream())
            .toList();
    if (!templates.isEmpty()) {
      jobs.count("killed templates", 1);
      any(templates).kill();
    }
  }

  private static List<Machine.Running> runnersAndForks(String pod) {
    return processesOf(pod).stream().filter(one -> one.command().contains(" runner ")).toList();
  }

  /** Each has its pod's name in its environment. */
  private static List<Machine.Running> processesOf(String pod) {
    return Machine.processesOf(Path.of(pod)).stream()
        .filter(one -> one.command().contains("/run/roost"))
        .toList();
  }

  private <T> T any(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
