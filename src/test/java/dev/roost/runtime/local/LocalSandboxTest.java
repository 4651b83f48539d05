package dev.roost.runtime.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.runtime.Egress;
import dev.roost.runtime.EgressScope;
import dev.roost.runtime.Runtime.Sandbox;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalSandboxTest {
  @TempDir Path directory;

  @Test
  void theProbesAnswerIsRead() throws Exception {
    assertEquals(
        new Sandbox("landlock+seccomp", 7, true, null),
        LocalSandbox.of(
            "{\"mechanism\": \"landlock+seccomp\", \"landlock_abi\": 7, \"private_ipc\": true, \"message\": null}\n"));
    Sandbox none =
        LocalSandbox.of("{\"mechanism\": \"none\", \"landlock_abi\": 0, \"message\": \"why\"}");
    assertEquals(new Sandbox("none", 0, false, "why"), none);
    assertTrue(none.isNone());
  }

  @Test
  void theDataDirectoryAndTheKeyAreAlwaysPrivate() throws Exception {
    Map<String, String> settings =
        Map.of(
            "roost.api-key-file", "/run/key",
            "roost.local.sandbox-readable", "/srv/models,/srv/data",
            "roost.local.sandbox-writable", "/dev/nvidia0");
    LocalSandbox sandbox =
        LocalSandbox.find(
            TestLocalSettings.roost(directory, settings),
            new DataDirectory(directory),
            directory,
            probe("landlock+seccomp", 7));
    JsonNode json = new ObjectMapper().readTree(sandbox.option(Egress.NONE, 256).orElseThrow());
    assertEquals("[\"/srv/models\",\"/srv/data\"]", json.path("readable").toString());
    assertEquals("[\"/dev/nvidia0\"]", json.path("writable").toString());
    assertFalse(json.path("network").asBoolean(true));
    assertEquals(directory.toString(), json.at("/private/0").asText());
    assertEquals("/run/key", json.at("/private/1").asText());
  }

  @Test
  void whereNoControlGroupIsCreatedTheOptionBoundsProcesses() throws Exception {
    LocalSandbox sandbox = find("auto", probe("landlock+seccomp", 7));
    assertTrue(json(sandbox).path("processes").isMissingNode());
    assertEquals(64, json(sandbox.bounding(64)).path("processes").asInt());
    LocalSandbox off = find("off", Path.of("/bin/false")).bounding(64);
    assertTrue(off.option(Egress.ALL, 0).isEmpty());
  }

  @Test
  void whatIsTurnedOffIsNotProbed() throws Exception {
    LocalSandbox sandbox = find("off", Path.of("/bin/false"));
    assertTrue(sandbox.option(Egress.ALL, 256).isEmpty());
    assertEquals(new Sandbox("none", null, false, "roost.local.sandbox is off"), sandbox.view());
  }

  @Test
  void withoutAWorkingOneOnlyAutoStarts() throws Exception {
    LocalSandbox sandbox = find("auto", Path.of("/bin/false"));
    assertTrue(sandbox.option(Egress.ALL, 256).isEmpty());
    assertTrue(sandbox.view().isNone());
    assertThrows(StartFailed.class, () -> find("landlock", Path.of("/bin/false")));
  }

  @Test
  void aWorkingOneIsUsed() throws Exception {
    Path probe = probe("landlock", 7);
    for (String wanted : new String[] {"auto", "landlock"}) {
      LocalSandbox sandbox = find(wanted, probe);
      assertEquals("landlock", sandbox.view().mechanism());
      assertFalse(sandbox.option(Egress.ALL, 256).isEmpty());
    }
  }

  @Test
  void anUnknownOneIsRefused() {
    StartFailed refused =
        assertThrows(StartFailed.class, () -> find("Landlock", Path.of("/bin/false")));
    assertTrue(
        refused.getMessage().contains("[auto, landlock, bubblewrap, off]"), refused.getMessage());
  }

  @Test
  void onlyAFilterOfSystemCallsLimitsTheNetwork() throws Exception {
    Egress addresses = Egress.parse("192.0.2.7:443");
    LocalSandbox old = find("auto", probe("landlock+seccomp", 3));
    assertEquals(EgressScope.NONE, old.egress());
    assertEquals(Optional.empty(), old.refusal(Egress.NONE));
    assertEquals(Optional.empty(), old.refusal(Egress.ALL));
    assertTrue(old.refusal(addresses).orElseThrow().contains("addresses"));
    LocalSandbox files = find("auto", probe("landlock", 7));
    assertEquals(EgressScope.ALL, files.egress());
    assertEquals(Optional.empty(), files.refusal(Egress.ALL));
    assertTrue(files.refusal(Egress.NONE).isPresent());
    assertTrue(files.refusal(addresses).isPresent());
  }

  @Test
  void ofAListThePortsAreEnforcedAndNamesAreLookedUp() throws Exception {
    LocalSandbox sandbox = find("auto", probe("landlock+seccomp", 4));
    assertEquals(EgressScope.PORTS, sandbox.egress());
    Egress list = Egress.parse("192.0.2.7:443\n192.0.2.8:443\n[2001:db8::7]:5432");
    assertEquals(Optional.empty(), sandbox.refusal(list));
    JsonNode json = new ObjectMapper().readTree(sandbox.option(list, 256).orElseThrow());
    assertEquals("[53,443,5432]", json.path("ports").toString());
    assertTrue(json.path("network").asBoolean());
    assertFalse(sandbox.option(Egress.ALL, 256).orElseThrow().contains("ports"));
    assertFalse(sandbox.option(Egress.NONE, 256).orElseThrow().contains("ports"));
  }

  @Test
  void sharedMemoryIsAnExecutorsOwnWhereThatWorks() throws Exception {
    Path probe = probe("landlock+seccomp", 7, true);
    JsonNode json =
        new ObjectMapper().readTree(find("auto", probe).option(Egress.ALL, 256).orElseThrow());
    assertEquals(256, json.path("shared_memory_mib").asInt());
    LocalSandbox without = find("auto", probe("landlock+seccomp", 7));
    assertFalse(without.option(Egress.ALL, 256).orElseThrow().contains("shared_memory"));
  }

  @Test
  void bubblewrapIsRequiredWhenItIsSet() throws Exception {
    StartFailed refused =
        assertThrows(StartFailed.class, () -> find("bubblewrap", Path.of("/bin/false")));
    assertTrue(refused.getMessage().contains("ROOST_LOCAL_SANDBOX=auto"), refused.getMessage());
    if (Programs.find("bwrap").isPresent()) {
      Path probe = probe("bubblewrap+landlock+seccomp", 7);
      LocalSandbox sandbox = find("bubblewrap", probe);
      JsonNode json = new ObjectMapper().readTree(sandbox.option(Egress.NONE, 256).orElseThrow());
      assertTrue(json.path("bubblewrap").asText().endsWith("/bwrap"), json::toString);
      assertEquals(EgressScope.PORTS, sandbox.egress());
    }
  }

  private Path probe(String mechanism, int abi) throws Exception {
    return probe(mechanism, abi, false);
  }

  private Path probe(String mechanism, int abi, boolean privateIpc) throws Exception {
    String script =
        "#!/bin/sh\necho '{\"mechanism\": \"%s\", \"landlock_abi\": %d, \"private_ipc\": %s}'\n"
            .formatted(mechanism, abi, privateIpc);
    Path probe = Files.writeString(directory.resolve("python"), script);
    assertTrue(probe.toFile().setExecutable(true));
    return probe;
  }

  private LocalSandbox find(String wanted, Path python) throws StartFailed {
    return LocalSandbox.find(
        TestLocalSettings.roost(directory, Map.of("roost.local.sandbox", wanted)),
        new DataDirectory(directory),
        directory,
        python);
  }

  private static JsonNode json(LocalSandbox sandbox) throws Exception {
    return new ObjectMapper().readTree(sandbox.option(Egress.ALL, 0).orElseThrow());
  }
}
