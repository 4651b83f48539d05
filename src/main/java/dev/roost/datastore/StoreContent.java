package dev.roost.datastore;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import jakarta.enterprise.context.ApplicationScoped;

/** All entries of a small store as one JSON object. */
@ApplicationScoped
public class StoreContent {
  private static final int PAGE_ENTRIES = 1_000;

  private final Entries entries;

  StoreContent(Entries entries) {
    this.entries = entries;
  }

  /**
   * The object of keys and values, with their exact texts. Entries that are written meanwhile may
   * be missing.
   *
   * @param mostCharacters of its text
   * @throws Problem not_found, too_large
   */
  public JsonText read(String storeId, int mostCharacters) {
    StringBuilder text = new StringBuilder("{");
    String after = null;
    do {
      Scan scan =
          entries.scan(
              Access.ofClient(storeId), new Range("", null, after, null), PAGE_ENTRIES, true);
      for (Entry entry : scan.entries()) {
        text.append(text.length() == 1 ? "\"" : ", \"");
        JsonStringEncoder.getInstance().quoteAsString(entry.key(), text);
        text.append("\": ").append(entry.value().text());
        if (text.length() > mostCharacters) {
          throw Problem.of(
              ErrorCode.TOO_LARGE,
              ("The DataStore %s has more than %,d characters. Read its entries one by one, or export "
                      + "them.")
                  .formatted(storeId, mostCharacters));
        }
      }
      after = scan.next();
    } while (after != null);
    return new JsonText(text.append('}').toString());
  }
}
