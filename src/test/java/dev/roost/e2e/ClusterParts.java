package dev.roost.e2e;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/**
 * The parts of the cluster, which can be stopped and started: by the command that the environment
 * variable {@code CLUSTER_COMMAND} names, with the arguments {@code stop|start|restart PART}. Parts
 * are apiserver, kubelet and containerd, and the nodes that {@code CLUSTER_NODES} names, separated
 * by commas: a stopped node's kubelet and containers are gone. Without the command, the tests that
 * need it are left out; with {@code -Dcluster.required=true} that is a failure.
 */
final class ClusterParts {
  static final String API_SERVER = "apiserver";
  static final String KUBELET = "kubelet";
  static final String CONTAINERD = "containerd";

  private static final long LIMIT_SECONDS = 120;

  private final String command;

  private ClusterParts(String command) {
    this.command = command;
  }

  /**
   * @throws TestAbortedException when there is no such command: the test is left out
   */
  static ClusterParts get() {
    String command = System.getenv("CLUSTER_COMMAND");
    if (command != null) {
      return new ClusterParts(command);
    }
    LeftOut.say(
        "the end-to-end tests that stop parts of the cluster, since CLUSTER_COMMAND names no command"
            + " that does it.");
    throw new AssertionError("not reached");
  }

  /** The nodes that can be stopped. */
  List<String> nodes() {
    String names = System.getenv("CLUSTER_NODES");
    return names == null || names.isBlank() ? List.of() : List.of(names.split(","));
  }

  /** Stops a part; close what is returned to start it again. */
  Stopped stop(String part) {
    run("stop", part);
    return () -> run("start", part);
  }

  void restart(String part) {
    try {
      run("restart", part);
    } catch (AssertionError e) {
      run("start", part);
      throw e;
    }
  }

  /** A part that is away until this is closed. */
  interface Stopped extends AutoCloseable {
    @Override
    void close();
  }

  private void run(String verb, String part) {
    try {
      Path output = Files.createTempFile("cluster-", ".log");
      // What it starts lives on and may hold its output open: a file doesn't mind.
      Process process =
          new ProcessBuilder(command, verb, part)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new AssertionError(
            command + " " + verb + " " + part + ":\n" + Files.readString(output));
      }
      Files.delete(output);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
