package dev.roost.datastore;

import dev.roost.api.JsonText;
import java.time.Instant;

/** One change of a transaction. */
public sealed interface Write {
  String key();

  /**
   * Stores a value.
   *
   * @param ttlSeconds the lifetime from when the transaction is applied; null: see {@code
   *     expiresAt}
   * @param expiresAt when the entry expires; null: never
   */
  record Set(String key, JsonText value, Double ttlSeconds, Instant expiresAt) implements Write {}

  /** Removes the entry if it exists. */
  record Delete(String key) implements Write {}

  /**
   * Adds to a number; an absent one counts as 0.
   *
   * @param amount a JSON number
   */
  record Increment(String key, JsonText amount) implements Write {}
}
