package dev.roost.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Content;
import org.eclipse.microprofile.openapi.models.media.MediaType;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;

/**
 * Makes of the schemas that are read off the records what clients can rely on. Pages are called
 * after what they hold. A property of an answer is always there, which is what "required" means,
 * unless its description begins with "Only"; the tests hold every answer against that.
 */
final class OpenApiSchemas {
  private static final String PREFIX = "#/components/schemas/";

  /** Properties that mean the same wherever they are. */
  private static final Map<String, String> EVERYWHERE =
      Map.of(
          "id", "Its identifier",
          "agent_id", "The agent that it is of",
          "created_at", "When it was made",
          "updated_at", "When it was changed last",
          "data", "Newest first, where nothing else is said");

  /** Read off the parameters of methods that stream; no answer has them. */
  private static final Set<String> OF_METHODS = Set.of("MediaType", "OutboundSseEvent");

  /** Parts of requests; whole ones end with "Request". */
  private static final Set<String> OF_REQUESTS =
      Set.of("TransactionRead", "TransactionWrite", "TransactionRange");

  private static final Schema JSON_TEXT =
      OASFactory.createSchema()
          .title("Any JSON value")
          .description("Any JSON value. Its text is kept and given back exactly as it came.");

  private static final Schema INSTANT =
      OASFactory.createSchema()
          .addType(Schema.SchemaType.STRING)
          .format("date-time")
          .description("RFC 3339, in UTC, with microseconds")
          .examples(List.of("2026-11-21T18:12:41.123456Z"));

  private final Map<String, Schema> schemas = new TreeMap<>();

  /** From the name that is read off to the one that clients see. */
  private final Map<String, String> names = new LinkedHashMap<>();

  /**
   * @param found by name, as they are read off the records
   */
  OpenApiSchemas(Map<String, Schema> found) {
    found.forEach(
        (name, schema) -> {
          if (OF_METHODS.contains(name)) {
            return;
          }
          String item = itemOf(schema);
          names.put(name, name.startsWith("Page") && item != null ? item + "Page" : name);
          schemas.put(names.get(name), schema);
        });
    schemas.put("JsonText", JSON_TEXT);
    schemas.put("Instant", INSTANT);
    schemas.forEach(OpenApiSchemas::complete);
    // No annotation can say it of what a list holds.
    Schema sums = schemas.get("TransactionResult").getProperties().get("sums");
    sums.getItems().addType(Schema.SchemaType.NULL);
    // Read off as what may be null, of an Optional.
    schemas
        .get("SessionRequest")
        .getProperties()
        .values()
        .forEach(value -> value.setType(List.of(Schema.SchemaType.STRING)));
  }

  /** By the names that clients see. */
  Map<String, Schema> schemas() {
    return schemas;
  }

  /** The name of what a page holds; null: it is no page. */
  private static String itemOf(Schema schema) {
    Map<String, Schema> properties = schema.getProperties();
    Schema data = properties == null ? null : properties.get("data");
    boolean isPage =
        data != null && data.getItems() != null && properties.containsKey("next_cursor");
    return isPage ? nameOf(data.getItems().getRef()) : null;
  }

  private static String nameOf(String reference) {
    return reference.substring(reference.lastIndexOf('/') + 1);
  }

  private static void complete(String name, Schema schema) {
    if (schema.getProperties() == null) {
      return;
    }
    schema
        .getProperties()
        .forEach(
            (property, value) -> {
              if (value.getDescription() == null && EVERYWHERE.containsKey(property)) {
                value.setDescription(EVERYWHERE.get(property));
              }
              // What a reference leads to says it; "object" would be wrong of a number, or of null.
              if (value.getRef() != null || value.getAnyOf() != null) {
                value.setType(null);
              }
              if (isNullable(value) && value.getEnumeration() != null) {
                splitOffNull(value);
              }
            });
    if (isOfAnswers(name)) {
      schema.setRequired(
          schema.getProperties().entrySet().stream()
              .filter(property -> isAlwaysThere(property.getValue()))
              .map(Map.Entry::getKey)
              .toList());
    } else {
      schema.setAdditionalPropertiesBoolean(false); // What isn't known is refused.
    }
  }

  /** A list of values that has no null in it forbids null, whatever the type allows. */
  private static void splitOffNull(Schema value) {
    value.setAnyOf(
        List.of(
            OASFactory.createSchema()
                .addType(Schema.SchemaType.STRING)
                .enumeration(value.getEnumeration()),
            OASFactory.createSchema().addType(Schema.SchemaType.NULL)));
    value.setType(null);
    value.setEnumeration(null);
  }

  private static boolean isNullable(Schema value) {
    return value.getType() != null && value.getType().contains(Schema.SchemaType.NULL);
  }

  private static boolean isOfAnswers(String name) {
    return !name.endsWith("Request") && !OF_REQUESTS.contains(name);
  }

  private static boolean isAlwaysThere(Schema property) {
    return property.getDescription() == null || !property.getDescription().startsWith("Only ");
  }

  /** Lets the answers of an operation refer to the schemas by the names that clients see. */
  void rename(Operation operation) {
    for (APIResponse response : operation.getResponses().getAPIResponses().values()) {
      if (response.getContent() != null) {
        response.setContent(renamed(response.getContent()));
      }
    }
  }

  private Content renamed(Content content) {
    Content renamed = OASFactory.createContent();
    content
        .getMediaTypes()
        .forEach((type, media) -> renamed.addMediaType(type.split(";")[0], renamed(type, media)));
    return renamed;
  }

  private MediaType renamed(String type, MediaType media) {
    Schema schema = media.getSchema();
    if (schema != null && schema.getRef() != null) {
      schema.setRef(PREFIX + names.getOrDefault(nameOf(schema.getRef()), nameOf(schema.getRef())));
    } else if (type.startsWith("text/")) {
      // Read off as a list of what is sent in parts.
      media.setSchema(OASFactory.createSchema().addType(Schema.SchemaType.STRING));
    }
    return media;
  }
}
