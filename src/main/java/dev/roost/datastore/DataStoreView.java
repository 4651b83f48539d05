package dev.roost.datastore;

import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A DataStore in the API.
 *
 * @param sizeBytes of keys and values
 * @param updatedAt the last change of the name or of the entries
 */
@Schema(name = "DataStore")
public record DataStoreView(
    @Schema(examples = "store_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
    @Schema(description = "Unique", examples = "greeter") String name,
    @Schema(description = "The number of entries", examples = "12") long entries,
    @Schema(description = "The size of keys and values in bytes", examples = "4711") long sizeBytes,
    @Schema(description = "The agents that use it") List<String> agentIds,
    Instant createdAt,
    Instant updatedAt) {
  static DataStoreView of(
      DataStore store, StoreCounts.Statistics statistics, List<String> agentIds) {
    return new DataStoreView(
        store.id,
        store.name,
        statistics.entries(),
        statistics.sizeBytes(),
        agentIds,
        store.createdAt,
        statistics.updatedAt());
  }
}
