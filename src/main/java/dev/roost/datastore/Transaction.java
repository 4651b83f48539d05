package dev.roost.datastore;

import java.util.List;

/**
 * Reads and writes: all writes are applied if nothing that was read has changed, otherwise none.
 */
public record Transaction(List<Read> reads, List<RangeRead> ranges, List<Write> writes) {
  /** Reads, ranges and writes together. */
  static final int MAX_ITEMS = 10_000;

  /** All values together. */
  static final long MAX_BYTES = 16L << 20;

  /**
   * @param version 0: there was no such entry
   */
  public record Read(String key, long version) {}

  /**
   * A range that was read.
   *
   * @param tag the hexadecimal SHA-256 over the versions of its entries in the order of their keys,
   *     each in decimal digits and followed by a line feed; null: not checked. A version is never
   *     reused, so it identifies a key with its value.
   * @param count the number of entries; null: not checked
   */
  public record RangeRead(Range range, String tag, Long count) {}
}
