package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Parts of the cluster go away while executions are at work, and come back. */
@Tag("soak")
@KubernetesOnly
@Isolated("parts of the cluster are away meanwhile")
class ClusterFaultsIT {
  private static final int AGENTS = 5;
  private static final int EXECUTIONS = 30;
  private static final Duration AWAY = Duration.ofSeconds(60);
  private static final Duration LIMIT = Duration.ofMinutes(4);

  /**
   * One set of executions lives through all faults, one after the other; that all of them still
   * work is looked at after each.
   */
  @Test
  void executionsOutliveEveryPartOfTheClusterAndTheControlPlane(Gate gate) {
    ClusterParts cluster = ClusterParts.get();
    try (RoostProcess roost = RoostProcess.started()) {
      Client client = roost.client();
      List<String> jobs = underWay(client, gate);

      cluster.restart(ClusterParts.KUBELET);
      assertAllWork("after a restart of kubelet", client, jobs);
      cluster.restart(ClusterParts.CONTAINERD);
      assertAllWork("after a restart of containerd", client, jobs);

      List<String> waiting = new ArrayList<>();
      try (ClusterParts.Stopped apiServer = cluster.stop(ClusterParts.API_SERVER)) {
        long back = System.nanoTime() + AWAY.toNanos();
        String agent =
            client.agent("def main(request): return request.payload", "max_concurrency", 5);
        for (int i = 0; i < 4; i++) {
          waiting.add(client.submit(agent, Integer.toString(i)));
        }
        assertAllWork("without the API server", client, jobs);
        roost.kill9();
        roost.start();
        assertAllWork("after kill -9 of the control plane, without the API server", client, jobs);
        for (String job : waiting) {
          JsonNode seen = client.job(job);
          assertEquals("queued", seen.path("state").asText(), seen::toPrettyString);
          assertEquals("executor", seen.path("waiting_on").asText(), seen::toPrettyString);
        }
        Eventually.until("it was away long enough", () -> System.nanoTime() > back);
        assertAllWork("after a minute without the API server", client, jobs);
      }
      for (String job : waiting) {
        JsonNode ended = client.ended(job, LIMIT);
        assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
      }
      assertAllWork("since the API server is back", client, jobs);

      gate.open();
      for (String job : jobs) {
        JsonNode ended = client.ended(job, LIMIT);
        Numbered.assertComplete(client, ended);
        assertEquals(1, ended.path("attempts").asInt());
      }
      assertEquals(
          0, client.get("/v1/executions?state=lost").expect(200).json().path("data").size());
      ((PodWorkers) roost.workers()).assertNothingIsLeft(client);
    }
  }

  /** Executions of several agents, all at work until the gate opens. */
  private static List<String> underWay(Client client, Gate gate) {
    List<String> agents = new ArrayList<>();
    for (int i = 0; i < AGENTS; i++) {
      agents.add(client.agent(Numbered.UNTIL_TOLD, "max_concurrency", EXECUTIONS / AGENTS));
    }
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < EXECUTIONS; i++) {
      String payload = "{\"name\": \"work %d\", \"gate\": %s}".formatted(i, gate.address());
      jobs.add(client.submit(agents.get(i % AGENTS), payload));
    }
    Eventually.until("all have begun", LIMIT, () -> gate.arrivals() == EXECUTIONS);
    return jobs;
  }

  /** Every execution logs more lines; none is lost or tried again. */
  private static void assertAllWork(String when, Client client, List<String> jobs) {
    Map<String, Integer> before = lines(when, client, jobs);
    Eventually.until(
        "all go on " + when,
        () ->
            lines(when, client, jobs).entrySet().stream()
                .allMatch(one -> one.getValue() > before.get(one.getKey())));
  }

  private static Map<String, Integer> lines(String when, Client client, List<String> jobs) {
    Map<String, Integer> lines = new TreeMap<>();
    for (String id : jobs) {
      JsonNode job = client.job(id);
      assertEquals("running", job.path("state").asText(), () -> when + ": " + job.toPrettyString());
      assertEquals(1, job.path("attempts").asInt(), () -> when + ": " + job.toPrettyString());
      lines.put(id, job.path("execution").path("log_entries").asInt());
    }
    return lines;
  }
}
