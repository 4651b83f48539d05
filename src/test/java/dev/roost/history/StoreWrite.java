package dev.roost.history;

/**
 * What an operation did, or would have done, to one key.
 *
 * @param version the one it made, of a removal the one it removed; {@link StoreCall#UNSEEN} when
 *     nobody has said
 * @param value unique among all values of the key; null when unknown
 * @param ttl nanoseconds; 0 for no expiry
 */
public record StoreWrite(String key, long version, String value, long ttl, boolean removes) {
  public static StoreWrite of(String key, long version) {
    return new StoreWrite(key, version, null, 0, false);
  }

  public static StoreWrite of(String key, long version, String value) {
    return new StoreWrite(key, version, value, 0, false);
  }

  public static StoreWrite expiring(String key, long version, String value, long ttl) {
    return new StoreWrite(key, version, value, ttl, false);
  }

  public static StoreWrite removal(String key, long removed) {
    return new StoreWrite(key, removed, null, 0, true);
  }

  boolean isPlaced() {
    return version > 0;
  }

  StoreWrite at(long seen) {
    return new StoreWrite(key, seen, value, ttl, removes);
  }

  static String shown(long version, String value) {
    String text = version > 0 ? "v" + version : "v?";
    return value == null ? text : text + " (" + value + ")";
  }

  @Override
  public String toString() {
    String expiry = ttl > 0 ? " for " + ttl / 1_000_000 + " ms" : "";
    return key + (removes ? " removed at " : ":=") + shown(version, value) + expiry;
  }
}
