package dev.roost.datastore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.api.Problem;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;
import java.util.List;
import java.util.Optional;

/**
 * Does what scripts ask of their stores over the executor link. Whoever calls has checked that the
 * script may use the store, and that its execution is still running: the latter in the transaction
 * in which {@link #run} is called, so that no write slips in after the end.
 */
@ApplicationScoped
public class Operations {
  private final Entries entries;

  Operations(Entries entries) {
    this.entries = entries;
  }

  /**
   * @param value JSON text, or null where there is no such entry
   * @param version 0 where there is no such entry
   */
  record Got(String value, long version) {
    static Got of(Entry entry) {
      return new Got(entry.value().text(), entry.version());
    }
  }

  record Set(long version) {}

  record Deleted(boolean deleted) {}

  record Cleared(long deleted) {}

  record Counted(long count) {}

  record Scanned(List<Element> entries, String next) {}

  /**
   * @param value JSON text; left out where only keys were asked for
   */
  record Element(String key, @JsonInclude(Include.NON_NULL) String value, long version) {
    static Element of(Entry entry) {
      String value = entry.value() == null ? null : entry.value().text();
      return new Element(entry.key(), value, entry.version());
    }
  }

  /**
   * Performs the operation in the caller's transaction, or in one of its own.
   *
   * @return what to answer, to be written as JSON
   * @throws Problem not_found: the store is gone; validation_failed; too_large
   */
  @Transactional
  public Object run(String storeId, Operation operation) {
    if (operation instanceof Operation.Get get) {
      Optional<Entry> entry = entries.get(storeId, get.key());
      return there(storeId, entry.isPresent(), entry.map(Got::of).orElse(new Got(null, 0)));
    }
    if (operation instanceof Operation.Set set) {
      Entries.Written written =
          entries.put(storeId, set.key(), set.value(), set.ttlSeconds(), Precondition.NONE);
      return new Set(written.version());
    }
    if (operation instanceof Operation.Delete delete) {
      boolean deleted = entries.delete(storeId, delete.key(), Precondition.NONE);
      return there(storeId, deleted, new Deleted(deleted));
    }
    if (operation instanceof Operation.Count) {
      long count = entries.count(storeId);
      return there(storeId, count > 0, new Counted(count));
    }
    if (operation instanceof Operation.Scan scan) {
      Scan found = entries.scan(storeId, scan.range());
      return there(
          storeId,
          !found.entries().isEmpty(),
          new Scanned(found.entries().stream().map(Element::of).toList(), found.next()));
    }
    if (operation instanceof Operation.Clear) {
      long deleted = entries.clear(storeId);
      return there(storeId, deleted > 0, new Cleared(deleted));
    }
    throw new IllegalArgumentException(operation.toString());
  }

  /**
   * A result from a store that surely exists. Where nothing was found, that costs a second query:
   * the store itself may be gone.
   */
  private static Object there(String storeId, boolean found, Object result) {
    if (!found) {
      DataStore.get(storeId);
    }
    return result;
  }
}
