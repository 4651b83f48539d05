package dev.roost.datastore;

import dev.roost.api.JsonText;
import java.time.Instant;

/** One change of a transaction. */
public sealed interface Write {
  String key();

  /**
   * Stores a value.
   *
   * @param ttlSeconds after which the entry is gone, from when the transaction is applied; null:
   *     see the next
   * @param expiresAt when the entry is gone; null: never
   */
  record Set(String key, JsonText value, Double ttlSeconds, Instant expiresAt) implements Write {}

  /** Removes the entry if there is one. */
  record Delete(String key) implements Write {}

  /**
   * Adds to a number; an absent one is 0.
   *
   * @param amount a JSON number
   */
  record Increment(String key, JsonText amount) implements Write {}
}
