package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The control groups of executors. Roost itself runs in a group of the test's, which holds a fork
 * bomb that gets out of its own.
 */
@LocalOnly("on a cluster the nodes limit the processes of pods")
class ProcessLimitIT {
  private static final Path ALL = Path.of("/sys/fs/cgroup/pids");
  private static final int MOST = 64;
  private static final int MOST_OF_THE_TEST = 700;

  private static final String SCRIPT =
      """
      import os

      def main(request):
          if request.payload == "fine":
              return "fine"
          while True:
              try:
                  os.fork()
              except OSError as error:
                  if request.payload == "polite":
                      raise
      """;

  private static Path outer;
  private static RoostProcess roost;

  @BeforeAll
  static void start() throws IOException {
    if (!Files.isWritable(ALL.resolve("cgroup.procs"))) {
      LeftOut.say("the fork bomb, for which " + ALL + " isn't there or can't be written");
    }
    outer = Files.createDirectory(ALL.resolve("roost-test-" + ProcessHandle.current().pid()));
    Files.writeString(outer.resolve("pids.max"), Integer.toString(MOST_OF_THE_TEST));
    roost =
        RoostProcess.prepared(
            "ROOST_LOCAL_MAX_PROCESSES", Integer.toString(MOST), "ROOST_LIMITS_PROCESSES", "1000");
    String join = "echo 0 > " + outer.resolve("cgroup.procs") + " && exec \"$0\" \"$@\"";
    roost.startBy("/bin/sh", "-c", join);
    roost.start();
  }

  @AfterAll
  static void end() throws IOException {
    if (roost != null) {
      roost.close();
    }
    if (outer != null) {
      try (Stream<Path> left = Files.list(outer).filter(Files::isDirectory)) {
        for (Path group : left.toList()) {
          Files.delete(group);
        }
      }
      Files.delete(outer);
    }
  }

  @Test
  void aForkBombEndsAtItsLimitAndTheServerAnswersMeanwhile() throws IOException {
    Client client = roost.client();
    JsonNode limit = client.get("/v1/runtime").json().path("process_limit");
    assertEquals("cgroup", limit.path("mechanism").asText(), limit::toString); // or no bomb
    assertEquals(MOST, limit.path("max_processes").asInt());
    String agent = client.agent(SCRIPT, "timeout", 4, "memory", 4096);
    assertEquals("fine", client.execute(agent, "\"fine\"").at("/execution/return_value").asText());
    Path group = onlyGroup();

    String job = client.submit(agent, "\"bomb\"");
    Eventually.until("the group is full", () -> current(group) == MOST);
    for (int i = 0; i < 20; i++) {
      client.get("/v1/agents/" + agent).expect(200);
      assertTrue(current(outer) < MOST_OF_THE_TEST / 2, () -> "processes: " + current(outer));
    }
    assertEquals("deadline_exceeded", client.ended(job).at("/execution/reason").asText());
    JsonNode polite = client.execute(agent, "\"polite\"").path("execution");
    assertTrue(polite.path("message").asText().contains("BlockingIOError"), polite::toPrettyString);
    assertEquals("fine", client.execute(agent, "\"fine\"").at("/execution/return_value").asText());
    assertEquals(group, onlyGroup(), "it was the same executor");
    client.send("DELETE", "/v1/agents/" + agent, null).expect(204);
    Eventually.until("it has no group", () -> groups().isEmpty());
  }

  @Test
  void groupsEndWithTheirExecutorsAndThoseThatAreLeftWithTheNextStart() throws IOException {
    Client client = roost.client();
    String agent = client.agent(SCRIPT);
    client.execute(agent, "\"fine\"");
    Path group = onlyGroup();
    client.send("DELETE", "/v1/agents/" + agent, null).expect(204);
    Eventually.until("it has no group", () -> groups().isEmpty());

    String name = group.getFileName().toString();
    roost.kill9();
    Path left = Files.createDirectory(group.resolveSibling(name + "0"));
    Path others = Files.createDirectory(group.resolveSibling("roost-0-executor_1"));
    Process forgotten =
        new ProcessBuilder("sh", "-c", "echo 0 > " + left + "/cgroup.procs; exec sleep 600")
            .start();
    try {
      Eventually.until("it has joined", () -> current(left) == 1);
      roost.start();
      Eventually.until("it is gone", () -> !Files.exists(left));
      assertFalse(forgotten.isAlive());
      assertTrue(Files.exists(others), "another server's");
    } finally {
      forgotten.destroyForcibly();
    }

    client.execute(client.agent(SCRIPT), "\"fine\"");
    assertEquals(2, groups().size(), "the executor's and the other server's");
    roost.terminate();
    assertEquals(List.of(others), groups());
    Files.delete(others);
    roost.start();
  }

  private static Path onlyGroup() {
    assertEquals(1, groups().size());
    return groups().get(0);
  }

  private static List<Path> groups() {
    try (Stream<Path> all = Files.list(outer)) {
      return all.filter(path -> path.toString().contains("-executor_")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int current(Path group) {
    try {
      return Integer.parseInt(Files.readString(group.resolve("pids.current")).strip());
    } catch (IOException e) {
      return 0; // It is gone.
    }
  }
}
