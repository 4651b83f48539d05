package dev.roost.datastore;

import dev.roost.api.Problem;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Keys are stored as UTF-8 in a bytea, which sorts by code point and accepts every character,
 * including U+0000.
 */
final class EntryKey {
  /** Greater than all keys: no byte of UTF-8 is 0xff. */
  static final byte[] AFTER_ALL = {(byte) 0xff};

  private EntryKey() {}

  /**
   * The bytes of an entry's key.
   *
   * @param where pointer for the error, for example "/key"
   * @throws Problem validation_failed: empty, too long, or not Unicode
   */
  static byte[] bytes(String where, String key, int maxBytes) {
    if (key.isEmpty()) {
      throw Problem.invalid(where, "required", "The key must not be empty.");
    }
    byte[] bytes = bound(where, key);
    if (bytes.length > maxBytes) {
      throw Problem.invalid(
          where,
          "too_long",
          "The key has %,d bytes of UTF-8; the limit is %,d (setting roost.limits.store-key-bytes)."
              .formatted(bytes.length, maxBytes));
    }
    return bytes;
  }

  /**
   * The bytes of a prefix or of a range's bound, which may be empty and of any length.
   *
   * @throws Problem validation_failed: not Unicode
   */
  static byte[] bound(String where, String text) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(encoded.array(), encoded.limit());
    } catch (CharacterCodingException e) {
      throw Problem.invalid(
          where,
          "invalid_text",
          "The key contains an unpaired surrogate. Keys must be valid Unicode.");
    }
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** The least key that is greater than this one. */
  static byte[] next(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /** The least key that is greater than all keys with the prefix, which must not be empty. */
  static byte[] afterPrefix(byte[] prefix) {
    // No byte of UTF-8 is 0xff, so the last byte can always be incremented.
    byte[] next = prefix.clone();
    next[next.length - 1]++;
    return next;
  }
}
