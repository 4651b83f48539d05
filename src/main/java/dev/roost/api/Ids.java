package dev.roost.api;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * Identifiers: a type prefix and a UUIDv7 (RFC 9562) in Crockford's base32, 26 lower-case
 * characters. Identifiers from one process sort by creation, even within a millisecond.
 */
public final class Ids {
  private static final char[] ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz".toCharArray();
  private static final int DIGITS = 26;
  private static final SecureRandom RANDOM = new SecureRandom();
  private static long lastTick;

  private Ids() {}

  /**
   * @param prefix for example "agent"
   */
  public static String next(String prefix) {
    long tick = tick();
    long high = (tick >>> 12 << 16) | 0x7000L | (tick & 0xfff);
    long low = (RANDOM.nextLong() >>> 2) | 0x8000_0000_0000_0000L;
    return prefix + '_' + base32(high, low);
  }

  /** The UUID of an identifier; empty if the text is none of that type. */
  public static Optional<UUID> uuid(String prefix, String id) {
    if (!id.startsWith(prefix + '_') || id.length() != prefix.length() + 1 + DIGITS) {
      return Optional.empty();
    }
    long high = 0;
    long low = 0;
    for (int i = prefix.length() + 1; i < id.length(); i++) {
      int digit = digit(id.charAt(i));
      if (digit < 0 || high >>> 59 != 0) {
        return Optional.empty();
      }
      high = (high << 5) | (low >>> 59);
      low = (low << 5) | digit;
    }
    return Optional.of(new UUID(high, low));
  }

  /** The inverse of {@link #uuid}. */
  public static String of(String prefix, UUID uuid) {
    return prefix + '_' + base32(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
  }

  private static int digit(char character) {
    for (int i = 0; i < ALPHABET.length; i++) {
      if (ALPHABET[i] == character) {
        return i;
      }
    }
    return -1;
  }

  /** A string that sorts before all identifiers of that type created at or after that time. */
  public static String first(String prefix, Instant time) {
    return prefix + '_' + base32(time.toEpochMilli() << 16, 0);
  }

  /**
   * Milliseconds since 1970 and a 12-bit counter within the millisecond: RFC 9562, 6.2, method 1.
   */
  private static synchronized long tick() {
    lastTick = Math.max(lastTick + 1, System.currentTimeMillis() << 12);
    return lastTick;
  }

  /** 128 bits as 26 digits of 5 bits; the first digit has only 3 bits. */
  static String base32(long high, long low) {
    char[] digits = new char[DIGITS];
    for (int i = DIGITS - 1; i >= 0; i--) {
      digits[i] = ALPHABET[(int) (low & 31)];
      low = (low >>> 5) | (high << 59);
      high >>>= 5;
    }
    return new String(digits);
  }
}
