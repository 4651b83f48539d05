package dev.roost;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonMetaSchema;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.NonValidationKeyword;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Holds answers against the OpenAPI document: an operation answers with a status that it names, and
 * with JSON that has every required property, no other than described, and null only where that is
 * said. The clients of the tests ask it about every answer that they get.
 */
public final class Contract {
  /** For whatever is a value: numbers of a megabyte, a thousand arrays in each other. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNumberLength(Integer.MAX_VALUE)
                      .maxStringLength(Integer.MAX_VALUE)
                      .maxNestingDepth(Integer.MAX_VALUE)
                      .build())
              .build());

  private static final JsonSchemaFactory SCHEMAS = schemas();

  /** Of the framework, the same for every address: wrong method, media types that nobody has. */
  private static final Set<Integer> OF_ANY_ADDRESS = Set.of(404, 405, 406, 415);

  private record Path(Pattern pattern, JsonNode operations) {}

  private final JsonNode document;
  private final List<Path> paths = new ArrayList<>();
  private final Map<String, JsonSchema> schemas = new ConcurrentHashMap<>();

  /**
   * @param text the document as JSON
   */
  public Contract(String text) {
    document = read(text);
    for (JsonNode schema : document.at("/components/schemas")) {
      if (schema.has("properties") && !schema.has("additionalProperties")) {
        ((ObjectNode) schema).put("additionalProperties", false);
      }
    }
    List<Map.Entry<String, JsonNode>> found = new ArrayList<>();
    document.get("paths").fields().forEachRemaining(found::add);
    // Those without parameters first: "/executor-jobs/cancel" is no identifier.
    found.sort(
        (one, other) -> Integer.compare(parameters(one.getKey()), parameters(other.getKey())));
    for (Map.Entry<String, JsonNode> path : found) {
      // A key of a DataStore may have slashes.
      String pattern = path.getKey().replaceAll("\\{key}", ".+").replaceAll("\\{[^}]+}", "[^/]+");
      paths.add(new Path(Pattern.compile(pattern), path.getValue()));
    }
  }

  private static int parameters(String path) {
    return path.length() - path.replace("{", "").length();
  }

  /**
   * Checks an answer; addresses that aren't in the document may answer anything.
   *
   * @param path with its query
   * @param contentType of the answer, or null
   */
  public void check(String method, String path, int status, String contentType, String body) {
    String address = path.replaceFirst("[?#].*", "");
    JsonNode operation =
        paths.stream()
            .filter(known -> known.pattern().matcher(address).matches())
            .findFirst()
            .map(known -> known.operations().get(method.toLowerCase(Locale.ROOT)))
            .orElse(null);
    if (operation == null) {
      return;
    }
    String what = method + " " + address + ": " + status;
    JsonNode response = operation.get("responses").get(Integer.toString(status));
    if (response == null) {
      if (!OF_ANY_ADDRESS.contains(status)) {
        throw new AssertionError(what + " isn't in the OpenAPI document: " + body);
      }
      return;
    }
    if (contentType != null && contentType.matches("application/(problem\\+)?json(;.*)?")) {
      JsonNode schema = schemaOf(response, contentType.split(";")[0]);
      if (!schema.isMissingNode()) {
        validate(what, schema, body);
      }
    }
  }

  private JsonNode schemaOf(JsonNode response, String contentType) {
    JsonNode resolved =
        response.has("$ref") ? document.at(response.get("$ref").asText().substring(1)) : response;
    return resolved.path("content").path(contentType).path("schema");
  }

  private void validate(String what, JsonNode schema, String body) {
    Set<ValidationMessage> mistakes =
        schemas.computeIfAbsent(schema.toString(), text -> compiled(schema)).validate(read(body));
    if (!mistakes.isEmpty()) {
      List<String> first = mistakes.stream().map(ValidationMessage::getMessage).limit(5).toList();
      throw new AssertionError(
          "%s isn't as in the OpenAPI document: %s%n%.1000s".formatted(what, first, body));
    }
  }

  /**
   * JSON Schema as OpenAPI 3.1 has it, with all schemas of the document where references look for
   * them.
   */
  private static JsonSchemaFactory schemas() {
    JsonMetaSchema dialect =
        JsonMetaSchema.builder(JsonMetaSchema.getV202012())
            .keyword(new NonValidationKeyword("components"))
            .build();
    return JsonSchemaFactory.builder(JsonSchemaFactory.getInstance(VersionFlag.V202012))
        .metaSchema(dialect)
        .defaultMetaSchemaIri(dialect.getIri())
        .build();
  }

  private JsonSchema compiled(JsonNode schema) {
    ObjectNode root = schema.deepCopy();
    root.set("components", document.get("components"));
    return SCHEMAS.getSchema(root);
  }

  private static JsonNode read(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError("no JSON: " + text, e);
    }
  }
}
