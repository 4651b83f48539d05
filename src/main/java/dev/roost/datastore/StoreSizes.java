package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Enforces the size limit of stores without a counter that every write to a store would have to
 * lock. A measured size is valid for a few seconds, and this process adds its own writes. So a
 * store can exceed its limit only by the writes of other replicas within that time and by
 * concurrent writes.
 */
@ApplicationScoped
public class StoreSizes {
  /** How long a measurement is valid despite writes of other replicas. */
  private static final long TRUST_NANOS = 2_000_000_000L;

  /** After how long a full store is measured again. */
  private static final long FULL_NANOS = 1_000_000_000L;

  private static final int REMEMBERED = 1_000;

  private final long limit;

  /** The most recently written stores. */
  private final Map<String, Size> sizes =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Size> eldest) {
          return size() > REMEMBERED;
        }
      };

  @Inject
  StoreSizes(RoostConfig config) {
    this(config.limits().storeBytes());
  }

  StoreSizes(long limitBytes) {
    this.limit = limitBytes;
  }

  /** The known size of one store; access requires its monitor. */
  private static final class Size {
    boolean measured;
    long measuredAt;
    long measuredBytes;

    /** An upper bound: sizes of replaced values are not subtracted. */
    long writtenBytes;

    long age() {
      return System.nanoTime() - measuredAt;
    }

    long bytes() {
      return measuredBytes + writtenBytes;
    }
  }

  /**
   * Reserves capacity for a write.
   *
   * @param bytes of key and value
   * @param measure reads the store's size from the database, without expired entries; called rarely
   * @throws Problem store_full
   */
  void reserve(String storeId, long bytes, LongSupplier measure) {
    Size size = of(storeId);
    synchronized (size) {
      boolean over = size.bytes() + bytes > limit;
      boolean known =
          size.measured
              && (over
                  ? size.measuredBytes + bytes > limit && size.age() < FULL_NANOS
                  : size.age() < TRUST_NANOS);
      if (!known) {
        size.measuredBytes = measure.getAsLong();
        size.measuredAt = System.nanoTime();
        size.measured = true;
        size.writtenBytes = 0;
      }
      if (size.bytes() + bytes > limit) {
        throw Problem.of(
            ErrorCode.STORE_FULL,
            ("With this entry, the DataStore would have %,d bytes; the limit is %,d (setting "
                    + "roost.limits.store-bytes).")
                .formatted(size.bytes() + bytes, limit));
      }
      size.writtenBytes += bytes;
    }
  }

  /** Discards the measurement after a large deletion. */
  public void forget(String storeId) {
    synchronized (sizes) {
      sizes.remove(storeId);
    }
  }

  private Size of(String storeId) {
    synchronized (sizes) {
      return sizes.computeIfAbsent(storeId, id -> new Size());
    }
  }
}
