package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports of this process that scripts reach, wherever they run. */
final class ScriptListener {
  private static final int BACKLOG = 200;

  private ScriptListener() {}

  static ServerSocket open() {
    try {
      return TestCluster.isChosen()
          ? new ServerSocket(0, BACKLOG)
          : new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Host and port as a JSON array. */
  static String address(ServerSocket listener) {
    String host = TestCluster.isChosen() ? TestCluster.get().host() : "127.0.0.1";
    return "[\"%s\", %d]".formatted(host, listener.getLocalPort());
  }
}
