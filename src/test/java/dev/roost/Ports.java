package dev.roost;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for servers that can't choose one themselves. */
public final class Ports {
  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  /**
   * One that nobody takes before its server listens, nor while that starts again: the range is none
   * from which the kernel, Kubernetes, or the embedded database of a Roost take theirs, and nobody
   * else in this process has got the same.
   */
  public static int free() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(11_000, 15_000);
      try (ServerSocket socket = new ServerSocket(port)) {
        if (GIVEN.add(port)) {
          return socket.getLocalPort();
        }
      } catch (IOException e) {
        // It is taken.
      }
    }
  }
}
