package dev.roost.datastore;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Makes the tag of a range, see {@link Transaction.RangeRead}. */
final class RangeTag {
  private final MessageDigest digest;
  private long count;

  RangeTag() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }

  void add(long version) {
    digest.update((version + "\n").getBytes(StandardCharsets.US_ASCII));
    count++;
  }

  long count() {
    return count;
  }

  /** Ends it. */
  String text() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
