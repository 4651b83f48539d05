package dev.roost.agent;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.JsonMetaSchema;
import com.networknt.schema.JsonNodePath;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaException;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.JsonValidator;
import com.networknt.schema.Keyword;
import com.networknt.schema.NonValidationKeyword;
import com.networknt.schema.PathType;
import com.networknt.schema.SchemaId;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationContext;
import com.networknt.schema.ValidationMessage;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * A JSON Schema, draft 2020-12, that values are checked against. Who writes schemas and values may
 * want to harm: the work of a check is limited, patterns are those of RE2, whose time grows with
 * the length of the text only, and a schema refers to nothing outside itself. {@code format} is an
 * annotation, as the draft has it by default.
 */
public final class ValueSchema {
  /** The size of a schema. */
  static final int MOST_BYTES = 64 << 10;

  /** Deeper values can't be checked: validators call themselves for each level. */
  static final int MOST_DEPTH = 200;

  /** Mistakes of a value that are reported; more would help nobody. */
  static final int MOST_MISTAKES = 20;

  /** A number that is written with more digits is not compared with others. */
  private static final int MOST_DIGITS = 400;

  /** The keywords that are evaluated in one check; takes about a second. */
  static final int MOST_STEPS = 500_000;

  /** So many characters, each times the instructions of a pattern, count as one step. */
  private static final int MATCHES_PER_STEP = 64;

  private static final int MOST_DETAIL_CHARACTERS = 300;

  /** Members of schemas with values that are no schemas. */
  private static final Set<String> DATA = Set.of("const", "enum", "default", "examples");

  /** Keywords whose members are schemas, by names that are no keywords. */
  private static final Set<String> NAMED =
      Set.of("properties", "patternProperties", "$defs", "dependentSchemas");

  /** What makes a schema's references depend on more than their own text. */
  private static final Set<String> UNSUPPORTED =
      Set.of("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary");

  private static final String OTHER_DRAFT =
      "The draft must be 2020-12: leave $schema out, or write " + SchemaId.V202012 + ".";

  private static final ObjectMapper JSON =
      new ObjectMapper(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MOST_DEPTH)
                          .maxNumberLength(MOST_DIGITS)
                          .maxStringLength(Integer.MAX_VALUE)
                          .maxNameLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .setNodeFactory(JsonNodeFactory.withExactBigDecimals(true));

  private static final SchemaValidatorsConfig CONFIG =
      SchemaValidatorsConfig.builder()
          .pathType(PathType.JSON_POINTER)
          .locale(Locale.ENGLISH)
          .nullableKeywordEnabled(false)
          // It would follow all references at once, of which there may be exponentially many.
          .preloadJsonSchema(false)
          .regularExpressionFactory(
              pattern -> {
                Pattern compiled = Pattern.compile(pattern);
                return text -> compiled.matcher(text).find();
              })
          .build();

  private static final JsonSchemaFactory FACTORY = factory();

  private final JsonSchema schema;

  private ValueSchema(JsonSchema schema) {
    this.schema = schema;
  }

  private static JsonSchemaFactory factory() {
    JsonMetaSchema draft = JsonMetaSchema.getV202012();
    // Vocabularies would bring their keywords once more.
    JsonMetaSchema.Builder limited =
        JsonMetaSchema.builder(draft.getIri(), draft).vocabularies(names -> names.clear());
    draft
        .getKeywords()
        .forEach(
            (name, keyword) ->
                limited.keyword(name.equals("format") ? keyword : new Limited(keyword)));
    limited.unknownKeywordFactory((name, context) -> new NonValidationKeyword(name));
    return JsonSchemaFactory.builder()
        .defaultMetaSchemaIri(draft.getIri())
        .metaSchema(limited.build())
        .schemaLoaders(loaders -> loaders.values(list -> list.clear()))
        .build();
  }

  /**
   * The mistakes in a schema, at most {@link #MOST_MISTAKES}.
   *
   * @param pointer of the schema in the request, such as "/input_schema"
   */
  public static List<Problem.FieldError> mistakes(JsonText text, String pointer) {
    Mistakes mistakes = new Mistakes(pointer, "invalid_schema");
    JsonNode node;
    try {
      node = JSON.readTree(text.text());
    } catch (JsonProcessingException e) {
      mistakes.add(JsonPointer.empty(), tooMuch("A schema"));
      return mistakes.found;
    }
    if (!node.isObject()) {
      mistakes.add(JsonPointer.empty(), "A JSON Schema must be an object.");
      return mistakes.found;
    }
    if (!node.path("$schema").asText(SchemaId.V202012).equals(SchemaId.V202012)) {
      mistakes.add(JsonPointer.valueOf("/$schema"), OTHER_DRAFT);
      return mistakes.found;
    }
    Draft.SCHEMA.validate(node).forEach(mistakes::add);
    if (mistakes.found.isEmpty()) {
      look(node, mistakes);
    }
    return mistakes.found;
  }

  /** The schema of schemas; loaded when the first schema is given. */
  private static final class Draft {
    static final JsonSchema SCHEMA =
        JsonSchemaFactory.getInstance(VersionFlag.V202012)
            .getSchema(
                SchemaLocation.of(SchemaId.V202012),
                SchemaValidatorsConfig.builder()
                    .pathType(PathType.JSON_POINTER)
                    .locale(Locale.ENGLISH)
                    .build());
  }

  /** Gets the keywords of a schema, and of those within, that have a text. */
  private interface Visitor {
    void text(Map.Entry<String, JsonNode> keyword, JsonPointer at);

    /** A member of a keyword that has schemas by name. */
    default void named(String keyword, String name, JsonPointer at) {}
  }

  private static void visit(JsonNode node, JsonPointer at, Visitor visitor) {
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      visit(node.get(i), at.appendIndex(i), visitor);
    }
    for (Map.Entry<String, JsonNode> member : node.properties()) {
      String name = member.getKey();
      JsonPointer there = at.appendProperty(name);
      if (member.getValue().isTextual()) {
        visitor.text(member, there);
      } else if (NAMED.contains(name)) {
        for (Map.Entry<String, JsonNode> schema : member.getValue().properties()) {
          visitor.named(name, schema.getKey(), there);
          visit(schema.getValue(), there.appendProperty(schema.getKey()), visitor);
        }
      } else if (!DATA.contains(name)) {
        visit(member.getValue(), there, visitor);
      }
    }
  }

  /** Looks at references and patterns of a schema, and of those within. */
  private static void look(JsonNode schema, Mistakes mistakes) {
    visit(
        schema,
        JsonPointer.empty(),
        new Visitor() {
          @Override
          public void text(Map.Entry<String, JsonNode> keyword, JsonPointer at) {
            String name = keyword.getKey();
            String text = keyword.getValue().textValue();
            if (name.equals("$schema") && !text.equals(SchemaId.V202012)) {
              // The library would evaluate this part with the keywords of that draft, which are not
              // limited.
              mistakes.add(at, OTHER_DRAFT);
            } else if (UNSUPPORTED.contains(name)) {
              mistakes.add(
                  at, "%s is not supported; refer to #/$defs/NAME with $ref.".formatted(name));
            } else if (name.equals("$ref") && !refersTo(schema, text)) {
              mistakes.add(
                  at,
                  "$ref must be # or #/$defs/NAME, and %s is not in this schema."
                      .formatted(shown(text)));
            } else if (name.equals("pattern")) {
              lookAtPattern(text, at, mistakes);
            }
          }

          @Override
          public void named(String keyword, String name, JsonPointer at) {
            if (keyword.equals("patternProperties")) {
              lookAtPattern(name, at, mistakes);
            }
          }
        });
  }

  /** So that whatever is referred to is a schema that has been looked at. */
  private static boolean refersTo(JsonNode schema, String reference) {
    if (reference.equals("#")) {
      return true;
    }
    try {
      JsonPointer pointer =
          JsonPointer.compile(reference.substring(Math.min(1, reference.length())));
      return reference.startsWith("#/$defs/")
          && pointer.tail().tail().matches()
          && schema.has("$defs")
          && schema.get("$defs").has(pointer.tail().getMatchingProperty());
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static void lookAtPattern(String text, JsonPointer at, Mistakes mistakes) {
    try {
      Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      mistakes.add(
          at,
          "The pattern %s is not one of RE2, which has no lookarounds and no backreferences: %s."
              .formatted(shown(text), e.getDescription()));
    }
  }

  private static String shown(String text) {
    return Text.quote(Text.beginning(text, 60));
  }

  private static String tooMuch(String what) {
    return "%s can have at most %d levels, and numbers at most %d digits."
        .formatted(what, MOST_DEPTH, MOST_DIGITS);
  }

  /**
   * @param text without {@link #mistakes}
   */
  public static ValueSchema of(JsonText text) {
    try {
      return new ValueSchema(FACTORY.getSchema(JSON.readTree(text.text()), CONFIG));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /**
   * The schema as part of a larger document.
   *
   * @param text without {@link #mistakes}; null: any value
   * @param pointer to the schema in the document, such as "#/components/schemas/Payload"
   */
  static ObjectNode within(String text, String pointer) {
    try {
      ObjectNode schema = (ObjectNode) JSON.readTree(text == null ? "{}" : text);
      schema.remove("$schema");
      visit(
          schema,
          JsonPointer.empty(),
          (keyword, at) -> {
            if (keyword.getKey().equals("$ref")) {
              String reference = keyword.getValue().textValue();
              keyword.setValue(TextNode.valueOf(pointer + reference.substring(1)));
            }
          });
      return schema;
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** The work that may still be done for one request. */
  public static final class Budget {
    private int steps = MOST_STEPS;
  }

  /**
   * The mistakes in a value, at most {@link #MOST_MISTAKES}.
   *
   * @param value null: JSON null
   * @param pointer of the value in the request, such as "/payload"
   */
  public List<Problem.FieldError> mistakes(JsonText value, String pointer, Budget budget) {
    Mistakes mistakes = new Mistakes(pointer, "invalid_value");
    JsonNode node;
    try {
      node = value == null ? JSON.nullNode() : JSON.readTree(value.text());
    } catch (JsonProcessingException e) {
      mistakes.add(JsonPointer.empty(), tooMuch("A value that is checked against a schema"));
      return mistakes.found;
    }
    if (!lookAtNumbers(node, JsonPointer.empty(), mistakes)) {
      return mistakes.found;
    }
    try {
      Set<ValidationMessage> found =
          schema.validate(new Steps(budget), node, node, new JsonNodePath(PathType.JSON_POINTER));
      Set<String> explained =
          found.stream()
              .filter(message -> !isOfNull(message))
              .map(message -> message.getInstanceLocation().toString())
              .collect(Collectors.toSet());
      found.stream()
          .filter(
              message ->
                  !isOfNull(message)
                      || !explained.contains(message.getInstanceLocation().toString()))
          .forEach(mistakes::add);
    } catch (JsonSchemaException e) {
      mistakes.add(JsonPointer.empty(), "The schema cannot be evaluated: " + e.getMessage() + ".");
    } catch (TooMuchWork e) {
      mistakes.add(
          JsonPointer.empty(),
          "The value takes too long to check against the schema: it is too large, or the schema has "
              + "too many alternatives.");
    }
    return mistakes.found;
  }

  /** Of an optional value, null is seldom the alternative that was meant. */
  private static boolean isOfNull(ValidationMessage message) {
    return message.getType().equals("type") && "null".equals(message.getArguments()[1]);
  }

  /** Whether none is written with an exponent that makes it a number of a million digits. */
  private static boolean lookAtNumbers(JsonNode node, JsonPointer at, Mistakes mistakes) {
    if (node.isBigDecimal() && Math.abs((long) node.decimalValue().scale()) > MOST_DIGITS) {
      mistakes.add(at, tooMuch("A value that is checked against a schema"));
      return false;
    }
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      if (!lookAtNumbers(node.get(i), at.appendIndex(i), mistakes)) {
        return false;
      }
    }
    for (Map.Entry<String, JsonNode> member : node.properties()) {
      if (!lookAtNumbers(member.getValue(), at.appendProperty(member.getKey()), mistakes)) {
        return false;
      }
    }
    return true;
  }

  /** Collects mistakes. */
  private static final class Mistakes {
    private final String pointer;
    private final String code;
    private final List<Problem.FieldError> found = new ArrayList<>();

    Mistakes(String pointer, String code) {
      this.pointer = pointer;
      this.code = code;
    }

    void add(JsonPointer at, String detail) {
      add(at.toString(), code, detail);
    }

    void add(ValidationMessage message) {
      String at = message.getInstanceLocation().toString();
      String property = message.getProperty();
      switch (message.getType()) {
        case "required" -> add(member(at, property), "required", property + " is required.");
        case "additionalProperties", "unevaluatedProperties" ->
            add(
                member(at, property),
                "unknown_field",
                property + " is not a property that it has.");
        default -> {
          String name = (pointer + at).substring(1);
          String text = Text.beginning(message.getError(), MOST_DETAIL_CHARACTERS);
          String kind = message.getType().equals("type") ? "wrong_type" : code;
          add(at, kind, "%s: %s.".formatted(name, text));
        }
      }
    }

    private void add(String at, String kind, String detail) {
      Problem.FieldError mistake = new Problem.FieldError(pointer + at, kind, detail);
      // Alternatives, and the vocabularies of the draft, report the same mistake each.
      if (found.size() < MOST_MISTAKES && !found.contains(mistake)) {
        found.add(mistake);
      }
    }

    private static String member(String at, String name) {
      return at + JsonPointer.empty().appendProperty(name == null ? "" : name);
    }
  }

  private static final class TooMuchWork extends RuntimeException {
    TooMuchWork() {
      super(null, null, false, false);
    }
  }

  /** Counts the work of one check. */
  private static final class Steps extends ExecutionContext {
    private final Budget budget;
    private int depth;

    Steps(Budget budget) {
      this.budget = budget;
    }

    void enter(long steps) {
      if (++depth > 4 * MOST_DEPTH || steps > budget.steps) {
        throw new TooMuchWork();
      }
      budget.steps -= (int) steps;
    }

    void leave() {
      depth--;
    }
  }

  /** A keyword whose work is counted. */
  private record Limited(Keyword keyword) implements Keyword {
    @Override
    public String getValue() {
      return keyword.getValue();
    }

    @Override
    public JsonValidator newValidator(
        SchemaLocation location,
        JsonNodePath path,
        JsonNode node,
        JsonSchema parent,
        ValidationContext context)
        throws Exception {
      JsonValidator validator = keyword.newValidator(location, path, node, parent, context);
      return validator == null ? null : new LimitedValidator(validator, cost(node));
    }

    /** The steps that an evaluation takes beside one. */
    private ToLongFunction<JsonNode> cost(JsonNode node) {
      return switch (getValue()) {
        case "pattern" -> {
          long instructions = Pattern.compile(node.asText()).programSize();
          yield value -> value.asText().length() * instructions / MATCHES_PER_STEP;
        }
        case "patternProperties" -> {
          long instructions = 0;
          for (Map.Entry<String, JsonNode> member : node.properties()) {
            instructions += Pattern.compile(member.getKey()).programSize();
          }
          long all = instructions;
          yield value -> {
            long characters = 0;
            for (Map.Entry<String, JsonNode> member : value.properties()) {
              characters += member.getKey().length();
            }
            return characters * all / MATCHES_PER_STEP;
          };
        }
        case "uniqueItems" -> Limited::comparisons;
        default -> value -> 0;
      };
    }

    /** Of the elements whose hash codes are the same, each with each. */
    private static long comparisons(JsonNode array) {
      Map<Integer, Integer> elements = new HashMap<>();
      long comparisons = 0;
      for (JsonNode element : array) {
        comparisons += elements.merge(element.hashCode(), 1, Integer::sum);
      }
      return comparisons;
    }
  }

  private record LimitedValidator(JsonValidator validator, ToLongFunction<JsonNode> cost)
      implements JsonValidator {
    @Override
    public Set<ValidationMessage> validate(
        ExecutionContext context, JsonNode node, JsonNode root, JsonNodePath at) {
      Steps steps = (Steps) context;
      steps.enter(1 + cost.applyAsLong(node));
      try {
        return validator.validate(context, node, root, at);
      } finally {
        steps.leave();
      }
    }

    @Override
    public void preloadJsonSchema() {
      validator.preloadJsonSchema();
    }

    @Override
    public SchemaLocation getSchemaLocation() {
      return validator.getSchemaLocation();
    }

    @Override
    public JsonNodePath getEvaluationPath() {
      return validator.getEvaluationPath();
    }

    @Override
    public String getKeyword() {
      return validator.getKeyword();
    }
  }
}
