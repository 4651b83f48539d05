package dev.roost.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.api.JsonText;
import dev.roost.api.Text;

/**
 * The JSON Schemas that an executor has made of the type hints of {@code main}. Executors run
 * users' code, so a schema that an agent couldn't be given either is dropped.
 *
 * @param input of payloads, as text; null: the hints say nothing of them
 * @param output of return values, as text; null: the hints say nothing of them
 */
public record HintedSchemas(String input, String output) {
  /**
   * @param report an object with {@code input} and {@code output}, each a schema or null
   */
  public static HintedSchemas of(JsonNode report) {
    return new HintedSchemas(schema(report.path("input")), schema(report.path("output")));
  }

  private static String schema(JsonNode node) {
    if (!node.isObject()) {
      return null;
    }
    String text = node.toString();
    boolean isFit =
        Text.sizeBytes(text) <= ValueSchema.MOST_BYTES
            && ValueSchema.mistakes(new JsonText(text), "").isEmpty();
    return isFit ? text : null;
  }
}
