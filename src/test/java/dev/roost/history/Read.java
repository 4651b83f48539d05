package dev.roost.history;

/**
 * What an operation saw of one key.
 *
 * @param version 0 when the key was absent, {@link StoreCall#UNSEEN} when only the value was shown
 * @param value unique to the write that made it; null when it was absent or not shown
 * @param scanned whether it was one of a range of keys
 */
public record Read(String key, long version, String value, boolean scanned) {
  public static Read of(String key, long version) {
    return new Read(key, version, null, false);
  }

  public static Read absent(String key) {
    return of(key, 0);
  }

  public static Read value(String key, String value) {
    return new Read(key, StoreCall.UNSEEN, value, false);
  }

  boolean isAbsence() {
    return version == 0;
  }

  Read at(long seen) {
    return new Read(key, seen, value, scanned);
  }

  @Override
  public String toString() {
    return key + "=" + (isAbsence() ? "absent" : StoreWrite.shown(version, value));
  }
}
