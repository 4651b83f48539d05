package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Ports;
import dev.roost.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starting, stopping, starting again, and not being able to start. */
@LocalOnly("it is about one machine's processes, files and ports")
class StartIT {
  private static final String BUSY =
      """
      import subprocess, time

      def main():
          subprocess.Popen(["sleep", "600"], start_new_session=True)
          print("busy")
          time.sleep(600)
      """;

  @Test
  void theFirstStartShowsAnAgentAtWorkAndWhereToGoOnFromThere() throws IOException {
    try (RoostProcess roost = RoostProcess.prepared("ROOST_WELCOME", "true")) {
      roost.launch();
      Eventually.until(
          "the address is printed",
          java.time.Duration.ofMinutes(4),
          () -> roost.output().contains("API key in") || !roost.isRunning());
      String output = roost.output();
      assertTrue(output.contains("log           Hello Roost, this is Python 3."), output);
      assertTrue(
          output.contains("return value  {\"greeting\": \"Hello Roost!\", \"runs\": 1}"), output);
      assertTrue(output.contains("Roost is ready at " + roost.url()), output);
      assertTrue(output.contains("API key in " + roost.keyFile()), output);
      assertEquals("", roost.errors());
      signsInOnce(roost);
      assertEquals(
          PosixFilePermissions.fromString("rw-------"),
          Files.getPosixFilePermissions(roost.keyFile()));
      assertEquals(
          PosixFilePermissions.fromString("rwx------"),
          Files.getPosixFilePermissions(roost.data()));
      assertEquals(
          List.of("welcome"), HttpAnswer.column(roost.client().get("/v1/agents").json(), "name"));

      roost.terminate();
      roost.start();
      Eventually.until("the address is printed", () -> roost.output().contains("API key in"));
      assertFalse(roost.output().contains("Welcome"), roost.output());
      signsInOnce(roost);
      assertEquals(1, roost.client().get("/v1/executions").json().path("data").size());
    }
  }

  private static void signsInOnce(RoostProcess roost) {
    String dashboard = "Dashboard: " + roost.url() + "/login?token=";
    String line = roost.output().lines().filter(l -> l.startsWith(dashboard)).findFirst().get();
    String body = "{\"token\": \"" + line.substring(dashboard.length()) + "\"}";
    Client browser = new Client(roost.url(), null);
    HttpAnswer signedIn = browser.send("POST", "/v1/session", body);
    assertEquals(201, signedIn.status(), signedIn.text());
    assertEquals("write", signedIn.json().at("/key/role").asText());
    String cookie = signedIn.headers().firstValue("Set-Cookie").get().split(";")[0];
    String token = signedIn.json().path("page_token").asText();
    assertEquals(401, browser.get("/v1/agents", "Cookie", cookie).status());
    String[] signed = {"Cookie", cookie, "Roost-Page-Token", token};
    assertEquals(200, browser.get("/v1/agents", signed).status());
    assertEquals(401, browser.send("POST", "/v1/session", body).status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT"})
  void aSignalEndsEverythingBusyExecutorsIncluded(String signal) {
    try (RoostProcess roost = RoostProcess.started()) {
      Client client = roost.client();
      String agent = client.agent(BUSY, "max_concurrency", 3);
      List<String> jobs = List.of(client.submit(agent, null), client.submit(agent, null));
      jobs.forEach(job -> client.logged(job, "busy"));
      assertTrue(roost.processes().stream().anyMatch(one -> one.command().equals("sleep 600")));

      Machine.signal(roost.pid(), signal);
      int status = roost.exitStatus();

      assertTrue(Set.of(0, 128 + 15, 128 + 2).contains(status), "status " + status);
      assertEquals(List.of(), roost.processes());
      assertEquals("", roost.errors());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "KILL"})
  void theNextStartFindsEverythingAsItWas(String signal) {
    try (RoostProcess roost = RoostProcess.started()) {
      Client client = roost.client();
      String agent =
          client.agent(
              "def main(request):\n    print('seen')\n    return request.payload", "name", "kept");
      JsonNode job = client.execute(agent, "{\"pi\": 3.140}");
      String execution = job.path("execution").path("id").asText();
      String agentText = client.get("/v1/agents/" + agent).text();
      String jobText = client.get("/v1/executor-jobs/" + job.path("id").asText()).text();
      String logs = client.get("/v1/executions/" + execution + "/logs").text();
      String key = roost.key();

      Machine.signal(roost.pid(), signal);
      roost.exitStatus();
      roost.start();

      assertEquals(key, roost.key());
      assertEquals(agentText, client.get("/v1/agents/" + agent).text());
      assertEquals(jobText, client.get("/v1/executor-jobs/" + job.path("id").asText()).text());
      assertEquals(logs, client.get("/v1/executions/" + execution + "/logs").text());
      assertEquals("succeeded", client.execute(agent, "1").path("state").asText());
    }
  }

  @Test
  void aKilledRoostsDatabaseAndWarmExecutorsAreAdopted() {
    try (RoostProcess roost = RoostProcess.started()) {
      Client client = roost.client();
      String agent =
          client.agent("def main():\n    return 1", "max_concurrency", 1, "keep_warm", 600);
      client.execute(agent, null);
      long postmaster = roost.postmaster().pid();
      List<Machine.Running> sidecars = roost.sidecars();

      roost.kill9();
      roost.start();

      assertEquals(postmaster, roost.postmaster().pid());
      JsonNode job = client.execute(agent, null);
      assertEquals("succeeded", job.path("state").asText());
      assertFalse(job.path("execution").path("cold_start").asBoolean());
      assertEquals(sidecars, roost.sidecars());
    }
  }

  @Test
  void aPortInUseIsReportedInOneLine() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        RoostProcess roost =
            RoostProcess.prepared("ROOST_PORT", Integer.toString(taken.getLocalPort()))) {
      refuses(roost, "port " + taken.getLocalPort(), "Set ROOST_PORT");
    }
  }

  @Test
  void aDataDirectoryInUseIsReportedInOneLineAndTheOtherRoostContinues() {
    try (RoostProcess one = RoostProcess.started();
        RoostProcess other = RoostProcess.prepared("ROOST_DATA", one.data().toString())) {
      one.collectGarbage(); // A lock that hangs on an object nobody holds would go now.
      refuses(other, "process " + one.pid(), one.data().toString(), "ROOST_DATA");
      assertEquals(200, one.client().get("/v1/agents").status());
    }
  }

  @Test
  void aDataDirectoryThatCannotBeWrittenIsReportedInOneLine() throws IOException {
    try (RoostProcess roost = RoostProcess.prepared()) {
      // Below a file not even root can make one.
      Path below = Files.createFile(roost.home().resolve("file")).resolve("data");
      roost.set("ROOST_DATA", below.toString());
      refuses(roost, below.toString(), "Set ROOST_DATA");
    }
  }

  /** Python is hidden from this one by a mount namespace of its own. */
  @Test
  void aMachineWithoutPythonIsReportedInOneLine() throws IOException, InterruptedException {
    assumeTrue(
        new ProcessBuilder("unshare", "-m", "true").start().waitFor() == 0,
        "needs the right to make a mount namespace");
    try (RoostProcess roost = RoostProcess.prepared("PYENV_ROOT", "/nowhere")) {
      Path nothing = Files.createFile(roost.home().resolve("nothing"));
      roost.set("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
      roost.startBy(
          "unshare",
          "-m",
          "sh",
          "-c",
          "for python in /usr/bin/python3* /usr/local/bin/python3* /usr/local/bin/uv; do"
              + " [ ! -e \"$python\" ] || mount --bind "
              + nothing
              + " \"$(readlink -f \"$python\")\" || exit 9; done; exec \"$@\"",
          "sh");
      refuses(roost, "Python", "Install", "PATH");
    }
  }

  @Test
  void aWrongSettingIsReportedInOneLine() {
    try (RoostProcess roost = RoostProcess.prepared("ROOST_LIMITS_PAYLOAD_BYTES", "lots")) {
      refuses(roost, "payload");
    }
  }

  @Test
  void aMisspeltSettingIsReportedInOneLine() {
    try (RoostProcess roost = RoostProcess.prepared("ROOST_LIMITS_PAYLOAD_BYTE", "1000")) {
      refuses(roost, "ROOST_LIMITS_PAYLOAD_BYTE;", "did you mean ROOST_LIMITS_PAYLOAD_BYTES?");
    }
  }

  @Test
  void aDatabaseThatAnswersALittleLaterIsWaitedFor() {
    TestDatabase database = new TestDatabase();
    Map<String, String> settings = database.start();
    URI url = URI.create(settings.get("quarkus.datasource.jdbc.url").replace("jdbc:", ""));
    try (Relay relay = new Relay(url.getPort());
        RoostProcess roost =
            RoostProcess.prepared(
                "ROOST_DATABASE_URL",
                "jdbc:postgresql://127.0.0.1:" + relay.port() + url.getPath(),
                "ROOST_DATABASE_USERNAME",
                settings.get("quarkus.datasource.username"),
                "ROOST_DATABASE_PASSWORD",
                settings.get("quarkus.datasource.password"))) {
      relay.cut();
      roost.launch();
      Eventually.until("connected", relay::isUsed);
      relay.heal();
      roost.awaitReady();
    } finally {
      database.stop();
    }
  }

  @Test
  void aDatabaseThatIsNotThereIsReportedInOneLine() {
    String url = "jdbc:postgresql://127.0.0.1:" + Ports.free() + "/postgres";
    try (RoostProcess roost =
        RoostProcess.prepared(
            "ROOST_DATABASE_URL",
            url,
            "ROOST_DATABASE_USERNAME",
            "r",
            "ROOST_DATABASE_PASSWORD",
            "r")) {
      roost.launch();
      int status = roost.exitStatus();
      assertEquals(1, status);
      String said = roost.errors();
      assertEquals(1, said.lines().count(), said);
      assertTrue(said.contains("Roost cannot start: Connection to 127.0.0.1"), said);
      assertTrue(roost.output().contains("Retrying"), roost.output());
    }
  }

  private static void refuses(RoostProcess roost, String... parts) {
    roost.launch();
    int status = roost.exitStatus();
    String said = roost.errors();
    assertEquals(1, status, said);
    assertEquals(1, said.lines().count(), said);
    for (String part : parts) {
      assertTrue(said.contains(part), said);
    }
    assertEquals("", roost.output());
    assertEquals(List.of(), roost.processes());
  }
}
