package dev.roost.api;

import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jboss.logging.Logger;

/**
 * Periodically measures the stored data, and refuses new data beyond the limits while the disk
 * still has space for mandatory writes: ends of executions, deletions.
 */
@ApplicationScoped
public class Storage {
  private static final Logger LOG = Logger.getLogger(Storage.class);
  private static final int INTERVAL_SECONDS = 5;

  /** Without limits, the sizes are only displayed, so measurements are rarer. */
  private static final int INTERVALS_WITHOUT_LIMITS = 12;

  /** A kind of data with its own limit. */
  public enum Area {
    LOGS("The logs of executions and builds", "log-bytes"),
    PAYLOADS("Payloads, return values and jobs", "payload-bytes"),
    STORES("The DataStores", "store-bytes"),
    FILES("The files of jobs", "file-bytes");

    private final String what;
    private final String setting;

    Area(String what, String setting) {
      this.what = what;
      this.setting = setting;
    }
  }

  /**
   * The latest measurement. Sizes are of data in use: removed data may still occupy disk space,
   * which the database reuses.
   *
   * @param freeBytes free space on the data directory's disk; null: not measured
   * @param full why new data is refused; null: new data is accepted
   */
  @Schema(name = "Storage")
  public record Usage(
      @Schema(description = "Approximate size of logs") long logBytes,
      @Schema(description = "Approximate size of payloads, return values and jobs")
          long payloadBytes,
      @Schema(description = "Of DataStores") long storeBytes,
      @Schema(description = "Of files") long fileBytes,
      @Schema(
              nullable = true,
              description =
                  "Free space on the disk of the data directory; null if the database is on another machine")
          Long freeBytes,
      @Schema(
              nullable = true,
              description =
                  "Why new jobs, agents or entries are rejected; null if they are accepted")
          String full) {}

  /** Measures the size of tables. */
  @FunctionalInterface
  interface Meter {
    long bytes(Area area);
  }

  /** Measures the free space of a disk. */
  @FunctionalInterface
  interface Disk {
    long free() throws IOException;
  }

  private static final String RETENTION =
      "Retention deletes old executions (setting roost.retention.executions): shorten it, or "
          + "raise the limit";

  private final RoostConfig.Storage limits;
  private final Meter meter;
  private final Disk disk;
  private final ScheduledExecutorService timer;
  private final Map<Area, Long> sizes = new EnumMap<>(Area.class);
  private volatile Map<Area, String> full = Map.of();
  private volatile String diskFull;
  private volatile Usage usage = new Usage(0, 0, 0, 0, null, null);
  private ScheduledFuture<?> measurements;
  private int intervals;

  @Inject
  Storage(RoostConfig config, TableSizes tables, ScheduledExecutorService timer) {
    this(config.storage(), tables::bytes, disk(config), timer);
  }

  /**
   * @param disk null: not measured
   */
  Storage(RoostConfig.Storage limits, Meter meter, Disk disk, ScheduledExecutorService timer) {
    this.limits = limits;
    this.meter = meter;
    this.disk = disk;
    this.timer = timer;
  }

  /** Only the embedded database is on the disk of the data directory. */
  private static Disk disk(RoostConfig config) {
    boolean isLocal = config.runtime().equals("local") && config.database().url().isEmpty();
    return isLocal ? () -> Files.getFileStore(config.data()).getUsableSpace() : null;
  }

  void start(@Observes StartupEvent event) {
    measurements = timer.scheduleWithFixedDelay(this::look, 0, INTERVAL_SECONDS, TimeUnit.SECONDS);
  }

  void stop(@Observes ShutdownEvent event) {
    measurements.cancel(false);
  }

  /**
   * @throws Problem storage_full
   */
  public void require(Area area) {
    reason(area)
        .ifPresent(
            reason -> {
              throw Problem.of(ErrorCode.STORAGE_FULL, reason);
            });
  }

  /**
   * Checks the disk, for data without its own limit.
   *
   * @throws Problem storage_full
   */
  public void requireDisk() {
    String ofDisk = diskFull;
    if (ofDisk != null) {
      throw Problem.of(ErrorCode.STORAGE_FULL, ofDisk);
    }
  }

  public boolean isFull(Area area) {
    return reason(area).isPresent();
  }

  /** Why new data of that kind is refused, for a person; empty: new data is accepted. */
  public Optional<String> reason(Area area) {
    String ofDisk = diskFull;
    return Optional.ofNullable(ofDisk != null ? ofDisk : full.get(area));
  }

  public Usage usage() {
    return usage;
  }

  private void look() {
    try {
      boolean limited = Arrays.stream(Area.values()).anyMatch(area -> limit(area) > 0);
      if (limited || intervals++ % INTERVALS_WITHOUT_LIMITS == 0) {
        measureTables();
      }
      measureDisk();
    } catch (Database.Failure e) {
      LOG.debugf("the size of stored data cannot be measured: %s", e.getMessage());
    } catch (IOException | RuntimeException e) {
      LOG.warnf("the size of stored data cannot be measured: %s", e.getMessage());
    }
  }

  /** Measures everything now. */
  public synchronized void measure() throws IOException {
    measureTables();
    measureDisk();
  }

  private synchronized void measureTables() {
    Map<Area, String> found = new EnumMap<>(Area.class);
    for (Area area : Area.values()) {
      long bytes = meter.bytes(area);
      sizes.put(area, bytes);
      long limit = limit(area);
      if (limit > 0 && bytes >= limit) {
        found.put(
            area,
            "%s have %,d bytes; the limit is %,d (setting roost.storage.%s). %s."
                .formatted(
                    area.what,
                    bytes,
                    limit,
                    area.setting,
                    area == Area.STORES ? "Delete entries, or raise the limit" : RETENTION));
      }
    }
    logChange(found.toString(), full.toString(), found.isEmpty());
    full = found;
    publish(usage.freeBytes());
  }

  private long limit(Area area) {
    return switch (area) {
      case LOGS -> limits.logBytes();
      case PAYLOADS -> limits.payloadBytes();
      case STORES -> limits.storeBytes();
      case FILES -> limits.fileBytes();
    };
  }

  private synchronized void measureDisk() throws IOException {
    if (disk == null) {
      return;
    }
    long free = disk.free();
    String found = refusal(free);
    logChange(String.valueOf(found), String.valueOf(diskFull), found == null);
    diskFull = found;
    publish(free);
  }

  private String refusal(long free) {
    return free >= limits.freeBytes()
        ? null
        : ("The disk of the data directory has %,d bytes left; Roost requires %,d (setting "
                + "roost.storage.free-bytes). Free disk space. %s.")
            .formatted(free, limits.freeBytes(), RETENTION);
  }

  private static void logChange(String now, String before, boolean isOver) {
    boolean wasOver = before.equals("{}") || before.equals("null");
    if (!isOver && wasOver) {
      LOG.errorf("storage is full, new jobs or writes are rejected: %s", now);
    } else if (isOver && !wasOver) {
      LOG.warn("storage is no longer full");
    }
  }

  private void publish(Long free) {
    String why = diskFull != null ? diskFull : full.values().stream().findFirst().orElse(null);
    usage =
        new Usage(
            sizes.getOrDefault(Area.LOGS, 0L),
            sizes.getOrDefault(Area.PAYLOADS, 0L),
            sizes.getOrDefault(Area.STORES, 0L),
            sizes.getOrDefault(Area.FILES, 0L),
            free,
            why);
  }
}
