package dev.roost.runtime.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.runtime.Runtime.ProcessLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlGroupTreeTest {
  private static final String BOTH =
      """
      31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
      38 31 0:35 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:7 - cgroup cgroup rw,cpu,cpuacct
      39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:8 master:1 - cgroup cgroup rw,pids
      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
      """;
  private static final String UNIFIED =
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

  @TempDir Path directory;

  @Test
  void theHierarchyThatHasTheControllerIsTaken() throws Exception {
    assertEquals(
        new ControlGroupTree(Path.of("/sys/fs/cgroup/pids/user.slice"), false),
        ControlGroupTree.of(BOTH, "9:cpu,cpuacct:/x\n8:pids:/user.slice\n0::/y\n"));
    String service = "/user.slice/user-1000.slice/user@1000.service/app.slice/roost.service";
    assertEquals(
        new ControlGroupTree(Path.of("/sys/fs/cgroup" + service), true),
        ControlGroupTree.of(UNIFIED, "0::" + service + "\n"));
  }

  @Test
  void aContainerSeesAPartOfIt() throws Exception {
    String mounts = "39 31 0:36 /docker/7f /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";
    assertEquals(
        new ControlGroupTree(Path.of("/sys/fs/cgroup/pids/own"), false),
        ControlGroupTree.of(mounts, "8:pids:/docker/7f/own\n"));
    assertThrows(IOException.class, () -> ControlGroupTree.of(mounts, "8:pids:/docker/8a\n"));
    assertThrows(IOException.class, () -> ControlGroupTree.of("", "8:pids:/\n"));
    assertThrows(IOException.class, () -> ControlGroupTree.of(BOTH, ""));
  }

  @Test
  void whereNoneCanBeCreatedCommandsStayAsTheyAre() throws Exception {
    Path nowhere = directory.resolve("missing").resolve("deep");
    ControlGroups none = ControlGroups.in(new ControlGroupTree(nowhere, true), 64, data("a"));
    assertNone(none);
    assertTrue(none.view().message().contains(": no " + nowhere), none.view().message());
    // Files instead of the kernel's.
    Path plain = Files.createDirectory(directory.resolve("plain"));
    assertNone(ControlGroups.in(new ControlGroupTree(plain, false), 64, data("a")));
    Files.writeString(plain.resolve("cgroup.subtree_control"), "\n");
    Files.writeString(plain.resolve("cgroup.controllers"), "cpu memory\n");
    ControlGroups groups = ControlGroups.in(new ControlGroupTree(plain, true), 64, data("a"));
    assertTrue(groups.view().message().contains("isn't delegated"), groups.view().message());
  }

  @Test
  void groupsAreNamedAfterTheDataDirectory() {
    assertEquals(ControlGroups.prefix(data("a")), ControlGroups.prefix(data("b/../a")));
    assertNotEquals(ControlGroups.prefix(data("a")), ControlGroups.prefix(data("b")));
  }

  private DataDirectory data(String name) {
    return new DataDirectory(directory.resolve(name));
  }

  private static void assertNone(ControlGroups groups) throws Exception {
    ProcessLimit limit = groups.view();
    assertEquals("none", limit.mechanism());
    assertTrue(limit.message().startsWith("No control group can be created"), limit.message());
    assertEquals(List.of("/bin/true"), groups.command("executor_1", List.of("/bin/true")));
    groups.end("executor_1");
    groups.removeLeftovers(Path.of("/"));
  }
}
