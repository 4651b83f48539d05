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
 * Completes the schemas that are generated from records. Pages are named after their items. A
 * property of a response is required unless its description begins with "Only"; the tests check all
 * responses against the schemas.
 */
final class OpenApiSchemas {
  private static final String PREFIX = "#/components/schemas/";

  /** Descriptions of properties with the same meaning in all schemas. */
  private static final Map<String, String> EVERYWHERE =
      Map.of(
          "id", "Its identifier",
          "agent_id", "The agent",
          "created_at", "When it was created",
          "updated_at", "When it was last changed",
          "data", "Newest first, unless the operation defines another order");

  /** Schemas generated from parameters of streaming methods; no response has these schemas. */
  private static final Set<String> OF_METHODS = Set.of("MediaType", "OutboundSseEvent");

  /** Parts of requests; names of complete requests end with "Request". */
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

  /** From generated names to public names. */
  private final Map<String, String> names = new LinkedHashMap<>();

  /**
   * @param found generated schemas by name
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
    // No annotation can describe the elements of a list as nullable.
    Schema sums = schemas.get("TransactionResult").getProperties().get("sums");
    sums.getItems().addType(Schema.SchemaType.NULL);
    // The generator describes an Optional as nullable.
    schemas
        .get("SessionRequest")
        .getProperties()
        .values()
        .forEach(value -> value.setType(List.of(Schema.SchemaType.STRING)));
  }

  /** Schemas by public name. */
  Map<String, Schema> schemas() {
    return schemas;
  }

  /** The name of a page's items; null if the schema is not a page. */
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
              // The referenced schema has the type; "object" would be wrong for a number or null.
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
      schema.setAdditionalPropertiesBoolean(false); // Unknown properties are rejected.
    }
  }

  /** An enumeration without null excludes null even when the type allows null. */
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

  /** Changes the references of an operation's responses to the public names. */
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
      // The generated schema is a list of the streamed parts.
      media.setSchema(OASFactory.createSchema().addType(Schema.SchemaType.STRING));
    }
    return media;
  }
}
