package dev.roost.schedule;

import dev.roost.db.Database;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** A ticker in a process of its own, with a simulated clock, to be killed. */
final class TickerProcess {
  private static final long BEAT_NANOS = 20_000_000;
  private static final String TICKING = "it ticks";

  private final List<String> command = new ArrayList<>();
  private final File log;
  private Process process;

  TickerProcess(String url, double factor, int queuedJobs, int number) {
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(TickerProcess.class.getName());
    command.addAll(List.of(url, Double.toString(factor), Integer.toString(queuedJobs)));
    log = Path.of("target", "ticker-" + number + ".log").toFile();
  }

  void start() {
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void kill() {
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Whether it has begun to work since its latest start. */
  boolean isTicking() {
    try {
      return Files.readString(log.toPath()).contains(TICKING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Ticks until it is killed, or nobody holds its input any more.
   *
   * @param arguments JDBC URL, factor of the clock, how many jobs of an agent may wait
   */
  public static void main(String[] arguments) {
    Thread parent = new Thread(TickerProcess::endWithParent);
    parent.setDaemon(true);
    parent.start();
    SimulatedClock clock = new SimulatedClock(Double.parseDouble(arguments[1]));
    List<dev.roost.execution.ScheduledJobs.Submitted> nobody = new ArrayList<>();
    Ticker ticker =
        TickerWorld.ticker(
            new Database(TickerWorld.pool(arguments[0])),
            clock,
            Integer.parseInt(arguments[2]),
            nobody);
    boolean first = true;
    while (true) {
      long pause = BEAT_NANOS;
      try {
        Optional<Duration> next = ticker.tick();
        if (first) {
          System.out.println(TICKING);
          first = false;
        }
        pause =
            next.map(wait -> Math.min(BEAT_NANOS, (long) (wait.toNanos() / clock.factor())))
                .orElse(BEAT_NANOS);
      } catch (Database.Failure e) {
        System.out.println(e.getMessage()); // The database was killed; it comes back.
      }
      nobody.clear();
      LockSupport.parkNanos(Math.max(1_000_000, pause));
    }
  }

  private static void endWithParent() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is said.
      }
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
    Runtime.getRuntime().halt(0);
  }
}
