package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValueSchemaTest {
  /** What pydantic writes for a model with another one, a list and a default. */
  private static final String ORDER =
      """
      {"$schema": "https://json-schema.org/draft/2020-12/schema",
       "$defs": {"Item": {"type": "object", "additionalProperties": false, "required": ["sku"],
         "properties": {"sku": {"type": "string", "pattern": "^[A-Z]{2}-\\\\d+$"},
           "count": {"type": "integer", "minimum": 1, "default": 1}}}},
       "type": "object", "required": ["items"],
       "properties": {"items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Item"}},
         "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
         "a/b": {"enum": ["x", 1]}}}""";

  private static String mistakes(String schema, String value) {
    assertEquals(List.of(), ValueSchema.mistakes(new JsonText(schema), "/input_schema"));
    return shown(
        ValueSchema.of(new JsonText(schema))
            .mistakes(new JsonText(value), "/payload", new ValueSchema.Budget()));
  }

  private static String schemaMistakes(String schema) {
    return shown(ValueSchema.mistakes(new JsonText(schema), "/input_schema"));
  }

  private static String shown(List<Problem.FieldError> mistakes) {
    return mistakes.stream()
        .map(mistake -> mistake.pointer() + " " + mistake.code() + " " + mistake.detail())
        .collect(Collectors.joining("; "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"items\": [{\"sku\": \"AB-1\"}]} | ``",
        "{\"items\": [{\"sku\": \"AB-1\", \"count\": 2}], \"note\": null, \"a/b\": 1} | ``",
        "null | /payload wrong_type payload: null found, object expected.",
        "{} | /payload/items required items is required.",
        "{\"items\": []} | /payload/items invalid_value payload/items: must have at least 1 items but found 0.",
        "{\"items\": [{\"sku\": \"ab\"}]} | /payload/items/0/sku invalid_value payload/items/0/sku: does not match the regex pattern ^[A-Z]{2}-\\d+$.",
        "{\"items\": [{\"sku\": \"AB-1\", \"sko\": 1}]} | /payload/items/0/sko unknown_field sko is not a property that it has.",
        "{\"items\": [{\"sku\": \"AB-1\", \"count\": 0}]} | /payload/items/0/count invalid_value payload/items/0/count: must have a minimum value of 1.",
        "{\"items\": [{\"sku\": \"AB-1\", \"count\": 1.5}]} | /payload/items/0/count wrong_type payload/items/0/count: number found, integer expected.",
        "{\"items\": [{\"sku\": \"AB-1\", \"count\": 1.0}]} | ``",
      })
  void mistakesOfAValueHavePointers(String value, String expected) {
    assertEquals(expected, mistakes(ORDER, value));
  }

  @Test
  void ofAnOptionalValueOnlyTheOtherAlternativeIsReported() {
    String optional = "{\"anyOf\": [{\"type\": \"number\", \"minimum\": 2}, {\"type\": \"null\"}]}";
    assertEquals("", mistakes(optional, "null"));
    assertEquals(
        "/payload invalid_value payload: must have a minimum value of 2.", mistakes(optional, "1"));
    assertEquals(
        "/payload wrong_type payload: string found, number expected.", mistakes(optional, "\"1\""));
    assertEquals(
        "/payload wrong_type payload: integer found, null expected.",
        mistakes("{\"type\": \"null\"}", "1"));
  }

  @Test
  void numbersAreComparedExactly() {
    String cents = "{\"multipleOf\": 0.01, \"maximum\": 90071992547409930.00}";
    assertEquals("", mistakes(cents, "90071992547409929.99"));
    assertTrue(mistakes(cents, "90071992547409929.999").contains("multiple of"));
    assertTrue(mistakes(cents, "90071992547409930.01").contains("maximum"));
  }

  @Test
  void formatIsAnAnnotation() {
    assertEquals("", mistakes("{\"type\": \"string\", \"format\": \"email\"}", "\"nobody\""));
  }

  @Test
  void unknownKeywordsAreAnnotations() {
    assertEquals(
        "", mistakes("{\"x-order\": 1, \"properties\": {\"a\": {\"widget\": {}}}}", "{\"a\": 1}"));
  }

  @Test
  void schemasMayContainThemselves() {
    String tree =
        """
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "unevaluatedProperties": false,
          "properties": {"name": {"type": "string"}, "children": {"items": {"$ref": "#/$defs/tree"}}}}}}""";
    assertEquals("", mistakes(tree, "{\"children\": [{\"name\": \"a\", \"children\": []}]}"));
    assertEquals(
        "/payload/children/0/size unknown_field size is not a property that it has.",
        mistakes(tree, "{\"children\": [{\"size\": 1}]}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "true | /input_schema invalid_schema A JSON Schema must be an object.",
        "{\"type\": \"text\"} | /input_schema/type",
        "{\"properties\": {\"a\": {\"minLength\": -1}}} | /input_schema/properties/a/minLength",
        "{\"$schema\": \"http://json-schema.org/draft-07/schema#\"} | /input_schema/$schema invalid_schema The draft must be 2020-12",
        "{\"items\": {\"$schema\": \"http://json-schema.org/draft-07/schema#\"}} | /input_schema/items/$schema invalid_schema The draft must be 2020-12",
        "{\"$ref\": \"#/$defs/a\"} | /input_schema/$ref invalid_schema $ref must be # or #/$defs/NAME",
        "{\"items\": {\"$ref\": \"https://example.com/a.json\"}} | /input_schema/items/$ref invalid_schema $ref must be",
        "{\"properties\": {\"default\": {\"pattern\": \"(?=a)\"}}} | /input_schema/properties/default/pattern invalid_schema The pattern",
        "{\"$ref\": \"#/const\", \"const\": {\"pattern\": \"(?=a)\"}} | /input_schema/$ref invalid_schema $ref must be",
        "{\"$ref\": \"#/$defs/a/const\", \"$defs\": {\"a\": {\"const\": {}}}} | /input_schema/$ref invalid_schema $ref must be",
        "{\"$ref\": \"\"} | /input_schema/$ref invalid_schema $ref must be",
        "{\"$ref\": \"#/$defs\"} | /input_schema/$ref invalid_schema $ref must be",
        "{\"$id\": \"https://example.com/a.json\"} | /input_schema/$id invalid_schema $id is not supported",
        "{\"pattern\": \"(?=a)b\"} | /input_schema/pattern invalid_schema The pattern \"(?=a)b\" is not one of RE2",
        "{\"patternProperties\": {\"(a)\\\\1\": {}}} | /input_schema/patternProperties invalid_schema The pattern",
      })
  void mistakesOfASchemaSayWhatToDo(String schema, String expected) {
    String found = schemaMistakes(schema);
    assertTrue(found.startsWith(expected), found);
  }

  @Test
  void namesOfDefinitionsAreEscaped() {
    assertEquals(
        "/payload wrong_type payload: integer found, string expected.",
        mistakes(
            "{\"$ref\": \"#/$defs/a~1b\", \"$defs\": {\"a/b\": {\"type\": \"string\"}}}", "1"));
  }

  @Test
  void whatLooksLikeAReferenceInAValueIsNone() {
    assertEquals(
        "",
        mistakes(
            "{\"const\": {\"$ref\": \"x\", \"pattern\": \"(\"}}",
            "{\"$ref\": \"x\", \"pattern\": \"(\"}"));
    assertEquals("", schemaMistakes("{\"properties\": {\"$ref\": {\"type\": \"string\"}}}"));
  }

  @Test
  void noMoreThanSomeMistakesAreReported() {
    String many =
        IntStream.range(0, 1_000).mapToObj(i -> "1").collect(Collectors.joining(",", "[", "]"));
    String schema = "{\"items\": {\"type\": \"string\"}}";
    assertEquals(ValueSchema.MOST_MISTAKES, mistakes(schema, many).split("wrong_type").length - 1);
  }

  private static final String TOO_LONG = "/payload invalid_value The value takes too long to check";

  @Test
  void aSchemaThatIsItselfEndsTheCheck() {
    assertTrue(mistakes("{\"$ref\": \"#\"}", "1").startsWith(TOO_LONG));
    assertTrue(
        mistakes(
                "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"not\": {\"$ref\": \"#/$defs/a\"}}}}",
                "1")
            .startsWith(TOO_LONG));
  }

  @Test
  void alternativesThatMultiplyEndTheCheck() {
    String doubles =
        IntStream.range(0, 40)
            .mapToObj(
                i ->
                    "\"d%d\": {\"anyOf\": [{\"$ref\": \"#/$defs/d%d\"}, {\"$ref\": \"#/$defs/d%2$d\"}]}"
                        .formatted(i, i + 1))
            .collect(Collectors.joining(", "));
    String schema =
        "{\"$ref\": \"#/$defs/d0\", \"$defs\": {%s, \"d40\": {\"type\": \"string\"}}}"
            .formatted(doubles);
    assertTrue(mistakes(schema, "1").startsWith(TOO_LONG));
    String levels =
        """
        {"$defs": {"x": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/x"}}},
          {"properties": {"a": {"$ref": "#/$defs/x"}}}]}}, "$ref": "#/$defs/x"}""";
    assertTrue(
        mistakes(levels, "{\"a\": ".repeat(100) + "1" + "}".repeat(100)).startsWith(TOO_LONG));
  }

  @Test
  void patternsDoNotBacktrack() {
    assertTrue(
        mistakes("{\"pattern\": \"^(a+)+$\"}", "\"" + "a".repeat(10_000) + "b\"")
            .contains("does not match"));
  }

  @Test
  void longTextsWithLargePatternsEndTheCheck() {
    String pattern = "{\"pattern\": \"(a{500}|b{500}|c{500}){2}\"}";
    assertEquals("", mistakes(pattern, "\"" + "a".repeat(1_000) + "\""));
    assertTrue(mistakes(pattern, "\"" + "d".repeat(1 << 20) + "\"").startsWith(TOO_LONG));
  }

  /** As hash tables have them all in one place. */
  @Test
  void elementsWithTheSameHashEndTheCheck() {
    String texts =
        IntStream.range(0, 1 << 12)
            .mapToObj(
                i ->
                    "\""
                        + Integer.toBinaryString(1 << 12 | i).replace("0", "Aa").replace("1", "BB")
                        + "\"")
            .collect(Collectors.joining(",", "[", "]"));
    assertTrue(mistakes("{\"uniqueItems\": true}", texts).startsWith(TOO_LONG));
    assertEquals("", mistakes("{\"uniqueItems\": true}", "[1, \"1\", [1], {\"a\": 1}]"));
    assertTrue(mistakes("{\"uniqueItems\": true}", "[{\"a\": 1}, {\"a\": 1}]").contains("unique"));
  }

  @Test
  void hugeNumbersAndDepthsAreRefused() {
    String expected =
        "/payload invalid_value A value that is checked against a schema can have at most";
    for (String value :
        List.of(
            "[".repeat(201) + "]".repeat(201), "1".repeat(401), "1e999999999", "[-1.5E-999999]")) {
      String found = mistakes("{\"multipleOf\": 0.1}", value);
      assertTrue(found.replace("/payload/0", "/payload").startsWith(expected), found);
    }
  }
}
