package dev.roost.datastore;

import dev.roost.api.Problem;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * The lines of one export, in pieces. Between two pieces nothing is held but the rest of a page: no
 * connection and no transaction, so it doesn't matter how slowly they are taken.
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
   * Whole lines, some 64 KiB unless a single one is longer; without the last line's end.
   *
   * @return empty at the end
   * @throws Problem not_found: there is no such store, or not any more; validation_failed
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
      // A store that was deleted meanwhile looks like one that ends here.
      DataStore.requireThere(storeId);
    }
  }
}
