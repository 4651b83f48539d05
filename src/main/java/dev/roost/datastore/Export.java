package dev.roost.datastore;

import dev.roost.api.Problem;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * The lines of one export, in pieces. Between two pieces the export holds only the rest of a page,
 * no connection and no transaction, so a slow reader does no harm.
 */
final class Export {
  private static final int PAGE_ENTRIES = 1_000;
  private static final int PIECE_BYTES = 1 << 16;

  private final Entries entries;
  private final String storeId;
  private final String prefix;
  private final Queue<Entry> page = new ArrayDeque<>();
  private String after;
  private boolean complete;

  /**
   * @param after only keys after this one; null: all
   */
  Export(Entries entries, String storeId, String prefix, String after) {
    this.entries = entries;
    this.storeId = storeId;
    this.prefix = prefix;
    this.after = after;
  }

  /**
   * Whole lines, about 64 KiB unless a single line is longer; without the last newline.
   *
   * @return empty at the end
   * @throws Problem not_found: the store doesn't exist, or was deleted meanwhile; validation_failed
   */
  byte[] next() {
    if (page.isEmpty() && !complete) {
      read();
    }
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    while (!page.isEmpty() && lines.size() < PIECE_BYTES) {
      PortableLine.append(page.remove(), lines);
    }
    byte[] piece = lines.toByteArray();
    return Arrays.copyOf(piece, Math.max(0, piece.length - 1));
  }

  private void read() {
    Scan scan =
        entries.scan(
            Access.ofClient(storeId), new Range(prefix, null, after, null), PAGE_ENTRIES, true);
    page.addAll(scan.entries());
    after = scan.next();
    complete = after == null;
    if (complete) {
      // The end may also mean that the store was deleted meanwhile.
      DataStore.requireThere(storeId);
    }
  }
}
