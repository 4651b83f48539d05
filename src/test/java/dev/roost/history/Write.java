package dev.roost.history;

/**
 * What an operation did, or would have done, to one key.
 *
 * @param version the one it made, of a removal the one it removed; {@link Operation#UNSEEN} when
 *     nobody has said
 * @param value unique among all values of the key; null when unknown
 * @param ttl nanoseconds; 0 for no expiry
 */
public record Write(String key, long version, String value, long ttl, boolean removes) {
  public static Write of(String key, long version) {
    return new Write(key, version, null, 0, false);
  }

  public static Write of(String key, long version, String value) {
    return new Write(key, version, value, 0, false);
  }

  public static Write expiring(String key, long version, String value, long ttl) {
    return new Write(key, version, value, ttl, false);
  }

  public static Write removal(String key, long removed) {
    return new Write(key, removed, null, 0, true);
  }

  boolean isPlaced() {
    return version > 0;
  }

  Write at(long seen) {
    return new Write(key, seen, value, ttl, removes);
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
