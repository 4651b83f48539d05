package dev.roost.execution;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.api.Problem;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is to be filled in with an approval: a JSON Schema of an object whose members are texts,
 * numbers and yes or no. A subset of JSON Schema 2020-12, which a page can show as a form. {@code
 * pattern} is not part of it: what people fill in would be matched against any regular expression.
 */
final class ApprovalForm {
  static final int MOST_FIELDS = 50;
  private static final Set<String> OF_FORM =
      Set.of(
          "$schema",
          "type",
          "title",
          "description",
          "properties",
          "required",
          "additionalProperties");
  private static final Set<String> OF_FIELD =
      Set.of("type", "title", "description", "default", "enum");
  private static final Set<String> OF_TEXT = Set.of("minLength", "maxLength", "format");
  private static final Set<String> OF_NUMBER = Set.of("minimum", "maximum");
  private static final Set<String> TYPES = Set.of("string", "number", "integer", "boolean");

  private ApprovalForm() {}

  /** The first mistake in a schema, as a sentence; null if it has none. */
  static String mistake(JsonNode schema) {
    if (!schema.isObject() || !schema.path("type").asText("object").equals("object")) {
      return "The form must be the JSON Schema of an object.";
    }
    String unknown = unknown(schema, OF_FORM);
    JsonNode properties = schema.path("properties");
    if (unknown != null || !properties.isObject() || properties.size() > MOST_FIELDS) {
      return unknown != null
          ? "The form has " + unknown + ", which forms can't have."
          : "The form needs properties, at most %d.".formatted(MOST_FIELDS);
    }
    for (Map.Entry<String, JsonNode> field : properties.properties()) {
      String mistake = fieldMistake(field.getValue());
      if (mistake != null) {
        return "The form's property %s %s".formatted(field.getKey(), mistake);
      }
    }
    for (JsonNode name : schema.path("required")) {
      if (!properties.has(name.asText())) {
        return "The form requires %s, which is not among its properties.".formatted(name.asText());
      }
    }
    return null;
  }

  private static String fieldMistake(JsonNode field) {
    String type = field.path("type").asText();
    if (!TYPES.contains(type)) {
      return "must have the type string, number, integer or boolean.";
    }
    Set<String> known = new HashSet<>(OF_FIELD);
    known.addAll(type.equals("string") ? OF_TEXT : type.equals("boolean") ? Set.of() : OF_NUMBER);
    String unknown = unknown(field, known);
    if (unknown != null) {
      return "has %s, which a %s can't have.".formatted(unknown, type);
    }
    for (String number : List.of("minLength", "maxLength", "minimum", "maximum")) {
      if (field.has(number) && !field.get(number).isNumber()) {
        return "has a %s that is not a number.".formatted(number);
      }
    }
    JsonNode choices = field.path("enum");
    if (!choices.isMissingNode() && (!choices.isArray() || choices.isEmpty())) {
      return "has an enum that is not a list of values.";
    }
    for (JsonNode choice : choices) {
      if (!is(type, choice)) {
        return "has a value in its enum that is not a %s.".formatted(type);
      }
    }
    return null;
  }

  private static String unknown(JsonNode object, Set<String> known) {
    for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        return name;
      }
    }
    return null;
  }

  /**
   * The mistakes in what was filled in.
   *
   * @param schema without mistakes
   * @param pointer of the value in the body, such as "/value"
   */
  static List<Problem.FieldError> mistakes(JsonNode schema, JsonNode value, String pointer) {
    if (!value.isObject()) {
      return List.of(new Problem.FieldError(pointer, "wrong_type", "The value must be an object."));
    }
    List<Problem.FieldError> mistakes = new ArrayList<>();
    JsonNode properties = schema.path("properties");
    for (Map.Entry<String, JsonNode> member : value.properties()) {
      String name = member.getKey();
      JsonNode field = properties.path(name);
      String mistake =
          field.isMissingNode()
              ? "is not part of the form."
              : valueMistake(field, member.getValue());
      if (mistake != null) {
        mistakes.add(
            error(pointer, name, field.isMissingNode() ? "unknown_field" : "invalid", mistake));
      }
    }
    for (JsonNode name : schema.path("required")) {
      if (!value.has(name.asText())) {
        mistakes.add(error(pointer, name.asText(), "required", "is required."));
      }
    }
    return mistakes;
  }

  private static Problem.FieldError error(String pointer, String name, String code, String text) {
    String escaped = name.replace("~", "~0").replace("/", "~1");
    return new Problem.FieldError(pointer + "/" + escaped, code, name + " " + text);
  }

  private static String valueMistake(JsonNode field, JsonNode value) {
    String type = field.path("type").asText();
    if (!is(type, value)) {
      return "must be a%s %s.".formatted(type.equals("integer") ? "n" : "", type);
    }
    if (field.has("enum") && !contains(field.get("enum"), value)) {
      return "must be one of %s.".formatted(field.get("enum"));
    }
    if (value.isTextual()) {
      String text = value.asText();
      BigDecimal length = BigDecimal.valueOf(text.codePointCount(0, text.length()));
      if (isBelow(length, field.get("minLength"))) {
        return "must have at least %s characters.".formatted(field.get("minLength"));
      }
      if (isAbove(length, field.get("maxLength"))) {
        return "can have at most %s characters.".formatted(field.get("maxLength"));
      }
    }
    if (value.isNumber()) {
      BigDecimal number = value.decimalValue();
      if (isBelow(number, field.get("minimum"))) {
        return "must be at least %s.".formatted(field.get("minimum"));
      }
      if (isAbove(number, field.get("maximum"))) {
        return "can be at most %s.".formatted(field.get("maximum"));
      }
    }
    return null;
  }

  /** Compares without writing either out: 1e999999999 has a billion digits. */
  private static boolean isBelow(BigDecimal number, JsonNode bound) {
    return bound != null && number.compareTo(bound.decimalValue()) < 0;
  }

  private static boolean isAbove(BigDecimal number, JsonNode bound) {
    return bound != null && number.compareTo(bound.decimalValue()) > 0;
  }

  private static boolean contains(JsonNode choices, JsonNode value) {
    for (JsonNode choice : choices) {
      if (choice.equals(value)
          || choice.isNumber()
              && value.isNumber()
              && choice.decimalValue().compareTo(value.decimalValue()) == 0) {
        return true;
      }
    }
    return false;
  }

  private static boolean is(String type, JsonNode value) {
    return switch (type) {
      case "string" -> value.isTextual();
      case "boolean" -> value.isBoolean();
      case "integer" -> value.isIntegralNumber();
      default -> value.isNumber();
    };
  }
}
