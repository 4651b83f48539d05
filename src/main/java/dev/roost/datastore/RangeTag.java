package dev.roost.datastore;

import dev.roost.api.Text;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Computes the tag of a range, see {@link Transaction.RangeRead}. */
final class RangeTag {
  private final MessageDigest digest = Text.sha256();
  private long count;

  void add(long version) {
    digest.update((version + "\n").getBytes(StandardCharsets.US_ASCII));
    count++;
  }

  long count() {
    return count;
  }

  /** The tag; no version can be added afterwards. */
  String text() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
