package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.api.Storage.Area;
import dev.roost.config.RoostConfig;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StorageTest {
  private final Map<Area, Long> sizes = new EnumMap<>(Area.class);
  private long free = 5_000;

  private final Storage storage =
      new Storage(
          new Limits(1_000, 0, 300, 0, 4_096),
          area -> sizes.getOrDefault(area, 1L << 40),
          () -> free,
          null);

  private record Limits(
      long logBytes, long payloadBytes, long storeBytes, long fileBytes, long freeBytes)
      implements RoostConfig.Storage {}

  private void measure(long logs, long stores) throws IOException {
    sizes.put(Area.LOGS, logs);
    sizes.put(Area.STORES, stores);
    storage.measure();
  }

  @Test
  void whatIsBelowItsLimitOrHasNoneIsStored() throws IOException {
    measure(999, 299);
    for (Area area : Area.values()) {
      assertFalse(storage.isFull(area));
      storage.require(area);
    }
    storage.requireDisk();
    assertEquals(
        new Storage.Usage(999, 1L << 40, 299, 1L << 40, 5_000L, null),
        storage.usage(),
        "payloads: no limit");
  }

  @Test
  void eachHasALimitOfItsOwnAndIsStoredAgainBelowIt() throws IOException {
    measure(1_000, 299);
    Problem problem = assertThrows(Problem.class, () -> storage.require(Area.LOGS));
    assertEquals(ErrorCode.STORAGE_FULL, problem.code());
    assertEquals(507, problem.code().status());
    assertTrue(problem.getMessage().contains("roost.storage.log-bytes"), problem.getMessage());
    assertTrue(problem.getMessage().contains("roost.retention.executions"), problem.getMessage());
    assertEquals(problem.getMessage(), storage.usage().full());
    storage.require(Area.STORES);
    storage.require(Area.PAYLOADS);
    storage.requireDisk();
    measure(0, 300);
    storage.require(Area.LOGS);
    problem = assertThrows(Problem.class, () -> storage.require(Area.STORES));
    assertTrue(problem.getMessage().contains("Delete entries"), problem.getMessage());
  }

  @Test
  void anAlmostFullDiskAcceptsNothing() throws IOException {
    free = 4_095;
    measure(0, 0);
    for (Area area : Area.values()) {
      assertTrue(storage.isFull(area));
    }
    Problem problem = assertThrows(Problem.class, storage::requireDisk);
    assertTrue(
        problem
            .getMessage()
            .startsWith(
                "The disk of the data directory has 4,095 bytes left; Roost requires 4,096 (setting roost.storage.free-bytes)."),
        problem.getMessage());
    free = 4_096;
    storage.measure();
    storage.requireDisk();
    assertNull(storage.usage().full());
  }
}
