package dev.roost.datastore;

import java.util.List;

/**
 * What was read and what is to be written: all of it, if nothing that was read has changed, or
 * nothing.
 */
public record Transaction(List<Read> reads, List<RangeRead> ranges, List<Write> writes) {
  /** Reads, ranges and writes together. */
  static final int MAX_ITEMS = 10_000;

  /** Of all values together. */
  static final long MAX_BYTES = 16L << 20;

  /**
   * @param version 0: there was no such entry
   */
  public record Read(String key, long version) {}

  /**
   * A range that was read.
   *
   * @param tag the hexadecimal SHA-256 over the versions of its entries in the order of their keys,
   *     each in decimal digits and followed by a line feed; null: not looked at. A version is never
   *     used twice, so it stands for a key with its value.
   * @param count how many entries there were; null: not looked at
   */
  public record RangeRead(Range range, String tag, Long count) {}
}
