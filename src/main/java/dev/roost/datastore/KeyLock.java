package dev.roost.datastore;

import dev.roost.api.Text;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * The numbers of the advisory locks that make operations on entries serializable. Row locks don't
 * suffice, since an absent key has no row. Every write holds its store's lock in shared mode and
 * its key's lock until the commit. A transaction also holds the keys that it has read, in shared
 * mode. A transaction that depends on a range holds the store's lock in exclusive mode. A write
 * with an idempotency record also holds the record's lock. Locks are always taken in one order,
 * first the record's, then the store's, then the keys' by number, so there are no deadlocks.
 *
 * <p>Two keys with the same number wait for each other; this has no other effect. The numbers are
 * the same on every replica and in every version.
 */
final class KeyLock {
  private KeyLock() {}

  static long ofStore(String storeId) {
    return number(storeId, new byte[0]);
  }

  /** The lock of an idempotency record. Its number differs from those of keys and stores. */
  static long ofRecord(String scope, String name) {
    return number("record/" + scope, name.getBytes(StandardCharsets.UTF_8));
  }

  static long ofKey(String storeId, byte[] key) {
    return number(storeId, key);
  }

  /** The first eight bytes of the SHA-256 of the scope, a zero and the name. */
  private static long number(String scope, byte[] name) {
    MessageDigest digest = Text.sha256();
    digest.update(scope.getBytes(StandardCharsets.UTF_8));
    digest.update((byte) 0);
    return ByteBuffer.wrap(digest.digest(name)).getLong();
  }
}
