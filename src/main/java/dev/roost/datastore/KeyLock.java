package dev.roost.datastore;

import dev.roost.api.Text;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * The numbers of the advisory locks that make operations on entries serializable. Rows can't do
 * that: a key that is absent has none. Every write holds, until it is committed, its store's lock
 * in shared mode and its key's; a transaction also holds the keys that it has read, in shared mode;
 * and one that depends on a range holds the store's lock alone. Always the store's first, then the
 * keys' in the order of their numbers, so nobody waits in a circle.
 *
 * <p>Two keys of one number wait for each other, and nothing else. The numbers are the same on
 * every replica and in every version.
 */
final class KeyLock {
  private KeyLock() {}

  static long ofStore(String storeId) {
    return number(storeId, new byte[0]);
  }

  static long ofKey(String storeId, byte[] key) {
    return number(storeId, key);
  }

  /** The first eight bytes of the SHA-256 of the store's identifier, a zero and the key. */
  private static long number(String storeId, byte[] key) {
    MessageDigest digest = Text.sha256();
    digest.update(storeId.getBytes(StandardCharsets.UTF_8));
    digest.update((byte) 0);
    return ByteBuffer.wrap(digest.digest(key)).getLong();
  }
}
