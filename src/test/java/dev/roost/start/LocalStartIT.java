package dev.roost.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.runtime.local.DataDirectory;
import dev.roost.runtime.local.StartFailed;
import dev.roost.runtime.local.TestLocalSettings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStartIT {
  @TempDir Path directory;

  @Test
  void aPortInUseIsReportedInALineThatSaysWhatToSet() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(other.getLocalPort());
      String message = failure(directory.resolve("data"), Map.of("roost.port", port));
      assertTrue(message.startsWith("port " + port + " of 127.0.0.1 cannot be used"), message);
      assertTrue(message.contains("ROOST_PORT"), message);
      assertOneLine(message);
    }
  }

  @Test
  void anUnknownHostIsReported() {
    String message = failure(directory, Map.of("roost.host", "no-such-host.invalid"));
    assertTrue(message.contains("roost.host"), message);
    assertOneLine(message);
  }

  @Test
  void aDataDirectoryThatOthersMayReadIsTakenFromThem() throws Exception {
    Path open = directory.resolve("open");
    Files.createDirectory(open);
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    new DataDirectory(open).create();
    assertEquals(PosixFilePermissions.fromString("rwx------"), Files.getPosixFilePermissions(open));
  }

  @Test
  void aDataDirectoryInUseNamesTheProcessThatUsesIt() throws Exception {
    DataDirectory data = new DataDirectory(directory);
    data.create();
    try (AutoCloseable lock = data.lock()) {
      String message = failure(directory, Map.of());
      String own = "(process " + ProcessHandle.current().pid() + ")";
      assertTrue(message.contains("another Roost " + own), message);
      assertTrue(message.contains("ROOST_DATA"), message);
      assertOneLine(message);
    }
  }

  @Test
  void aDataDirectoryThatCannotBeCreatedIsReported() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    String message = failure(file.resolve("data"), Map.of());
    assertTrue(message.contains("is not writable. Set ROOST_DATA"), message);
    assertOneLine(message);
  }

  @Test
  void theDataDirectoryIsItsOwnersAlone() throws Exception {
    DataDirectory data = new DataDirectory(directory.resolve("a").resolve("b"));
    data.create();
    assertEquals(
        "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(data.root())));
  }

  private static String failure(Path data, Map<String, String> settings) {
    LocalStart start =
        new LocalStart(
            TestLocalSettings.roost(data, settings), TestLocalSettings.of(data, settings));
    return assertThrows(StartFailed.class, start::run).getMessage();
  }

  private static void assertOneLine(String message) {
    assertFalse(message.contains("\n"), message);
  }
}
