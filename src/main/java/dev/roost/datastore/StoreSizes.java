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
 * Keeps stores within their limit without a counter that every writer of a store would have to
 * lock. A size is measured and then trusted for a few seconds, with everything that this process
 * writes added to it, so a store goes over its limit at most by what other replicas write within
 * that time and by what is being written at the same moment.
 */
@ApplicationScoped
class StoreSizes {
  /** How long a measurement stands for what other replicas write. */
  private static final long TRUST_NANOS = 2_000_000_000L;

  /** How soon a store that was found full is measured again. */
  private static final long FULL_NANOS = 1_000_000_000L;

  private static final int REMEMBERED = 1_000;

  private final long limit;

  /** The stores that were written to last. */
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

  /** What is known of one store; guarded by itself. */
  private static final class Size {
    boolean measured;
    long measuredAt;
    long measuredBytes;

    /** An upper bound: what a write replaces is not taken off. */
    long writtenBytes;

    long age() {
      return System.nanoTime() - measuredAt;
    }

    long bytes() {
      return measuredBytes + writtenBytes;
    }
  }

  /**
   * Makes room for a write.
   *
   * @param bytes of key and value
   * @param measure the store's size in the database, expired entries not counted; asked seldom
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
            "With this entry, the DataStore has %,d bytes; the limit is %,d (setting roost.limits.store-bytes)."
                .formatted(size.bytes() + bytes, limit));
      }
      size.writtenBytes += bytes;
    }
  }

  /** Forgets what was measured, because much was removed. */
  void forget(String storeId) {
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
