package dev.roost.schedule;

import java.util.ArrayList;
import java.util.List;

/** Sets of small numbers as bits. */
final class CronBits {
  private CronBits() {}

  /** The numbers of the bits that are set, ascending. */
  static List<Integer> of(long bits) {
    if (bits == 0) {
      return List.of();
    }
    List<Integer> numbers = new ArrayList<>();
    for (long rest = bits; rest != 0; rest &= rest - 1) {
      numbers.add(Long.numberOfTrailingZeros(rest));
    }
    return numbers;
  }

  /** The bits of every step-th number from the first to the last, both included. */
  static long range(int first, int last, int step) {
    long bits = 0;
    for (int number = first; number <= last; number += step) {
      bits |= 1L << number;
    }
    return bits;
  }

  /** The first set bit from this number on, or -1. */
  static int next(long bits, int from) {
    long rest = from > 63 ? 0 : bits >>> from << from;
    return rest == 0 ? -1 : Long.numberOfTrailingZeros(rest);
  }
}
