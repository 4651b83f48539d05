package dev.roost;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for servers that can't choose one themselves. */
public final class Ports {
  private Ports() {}

  /**
   * A port of loopback that nobody uses. It is below the range from which outgoing connections get
   * theirs, so none of those takes it before the server does, or while the server is restarted.
   */
  public static int free() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(15_000, 30_000);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // Somebody has it.
      }
    }
  }
}
