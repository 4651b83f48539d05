package dev.roost.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.db.Code;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Reads the JSON object of a request member by member and reports all mistakes together. Each
 * reader returns empty for a missing or null member, and for an invalid member, whose mistake is
 * collected; {@link #check} throws the collected mistakes.
 */
public final class Body {
  private static final ObjectMapper SCALARS =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private static final Instant YEAR_10000 = Instant.parse("+10000-01-01T00:00:00Z");

  /** The maximum number of reported mistakes; the client fixes these first. */
  private static final int MAX_ERRORS = 100;

  private static final int MOST_POINTER_CHARACTERS = 200;

  private final Map<String, JsonSlice> members;
  private final Set<String> known = new java.util.LinkedHashSet<>();
  private final List<Problem.FieldError> errors;

  /** JSON pointer to the object. */
  private final String at;

  private Body(Map<String, JsonSlice> members, String at, List<Problem.FieldError> errors) {
    this.members = members;
    this.at = at;
    this.errors = errors;
  }

  /**
   * @param utf8 may be empty or null: an object without members
   * @throws Problem malformed_json
   */
  public static Body parse(byte[] utf8) {
    Map<String, JsonSlice> members = utf8 == null ? Map.of() : JsonText.members(utf8);
    return new Body(members, "", new ArrayList<>());
  }

  /**
   * Parses an object that is one line of many. Its members may be values stored by a script, so
   * nested objects may have duplicate keys.
   *
   * @throws Problem malformed_json; the detail has no line number
   */
  public static Body parseLine(byte[] utf8) {
    return new Body(JsonText.membersOfLine(utf8), "", new ArrayList<>());
  }

  /** The member's exact text, JSON null included. */
  public Optional<JsonText> json(String name) {
    return slice(name).map(JsonSlice::json);
  }

  /** Length of the member's text in bytes of UTF-8; 0 for a missing member. */
  public int sizeBytes(String name) {
    return slice(name).map(JsonSlice::sizeBytes).orElse(0);
  }

  private Optional<JsonSlice> slice(String name) {
    known.add(name);
    return Optional.ofNullable(members.get(name));
  }

  public Optional<String> string(String name) {
    Optional<String> value = scalar(name, JsonNode::isTextual, "a string").map(JsonNode::textValue);
    Optional<Text.Unstorable> bad = value.flatMap(Text::unstorable);
    bad.ifPresent(
        mistake ->
            note(
                new Problem.FieldError(
                    at + "/" + name,
                    mistake.line(),
                    "invalid_text",
                    name + " " + mistake.detail() + ".")));
    return bad.isPresent() ? Optional.empty() : value;
  }

  /**
   * A string with any characters, including characters that a text column can't store.
   *
   * @return empty also for a null member
   */
  public Optional<String> anyString(String name) {
    return isNull(name)
        ? Optional.empty()
        : scalar(name, JsonNode::isTextual, "a string").map(JsonNode::textValue);
  }

  public Optional<Boolean> bool(String name) {
    return scalar(name, JsonNode::isBoolean, "true or false").map(JsonNode::booleanValue);
  }

  /** Whether the member is present and null. */
  public boolean isNull(String name) {
    return slice(name).filter(JsonSlice::isNull).isPresent();
  }

  public Optional<String> choice(String name, List<String> choices) {
    Optional<String> value = string(name);
    if (value.isPresent() && !choices.contains(value.get())) {
      reject(name, "not_a_choice", name + " must be one of " + String.join(", ", choices) + ".");
      return Optional.empty();
    }
    return value;
  }

  /** A constant of an enum. */
  public <E extends Enum<E> & Code> Optional<E> choice(String name, Class<E> type) {
    return choice(name, Code.of(List.of(type.getEnumConstants())))
        .map(code -> Code.parse(type, code));
  }

  /** A list of choices, without duplicates. */
  public Optional<List<String>> choices(String name, List<String> choices) {
    Optional<List<String>> values = strings(name);
    for (String value : values.orElse(List.of())) {
      if (!choices.contains(value)) {
        String hint =
            Text.nearest(value, choices).map(near -> " Did you mean " + near + "?").orElse("");
        reject(name, "not_a_choice", name + " must not contain " + Text.quote(value) + "." + hint);
      }
    }
    return values.map(given -> given.stream().distinct().toList());
  }

  public Optional<Integer> integer(String name, int least, int most) {
    return scalar(name, node -> node.isIntegralNumber(), "an integer")
        .flatMap(
            node -> {
              if (!node.canConvertToInt() || node.intValue() < least || node.intValue() > most) {
                reject(
                    name, "out_of_range", "%s must be from %d to %d.".formatted(name, least, most));
                return Optional.empty();
              }
              return Optional.of(node.intValue());
            });
  }

  /** From 0 to the greatest long. */
  public Optional<Long> wholeNumber(String name) {
    return scalar(name, node -> node.isIntegralNumber(), "an integer")
        .flatMap(
            node -> {
              if (!node.canConvertToLong() || node.longValue() < 0) {
                reject(name, "out_of_range", name + " must be 0 or more.");
                return Optional.empty();
              }
              return Optional.of(node.longValue());
            });
  }

  public Optional<Double> number(String name, double least, double most) {
    return scalar(name, JsonNode::isNumber, "a number")
        .flatMap(
            node -> {
              double value = node.doubleValue();
              if (!(value >= least && value <= most)) {
                reject(
                    name,
                    "out_of_range",
                    "%s must be from %s to %s.".formatted(name, plain(least), plain(most)));
                return Optional.empty();
              }
              return Optional.of(value);
            });
  }

  /** A point in time, RFC 3339, to the microsecond. */
  public Optional<Instant> time(String name) {
    return string(name)
        .flatMap(
            text -> {
              try {
                Instant time = OffsetDateTime.parse(text).toInstant();
                if (!time.isBefore(Instant.EPOCH) && time.isBefore(YEAR_10000)) {
                  return Optional.of(time.truncatedTo(ChronoUnit.MICROS));
                }
              } catch (DateTimeParseException e) {
                // Reported below.
              }
              reject(
                  name,
                  "invalid_time",
                  name + " must be a time with an offset, for example 2026-11-21T18:12:41Z.");
              return Optional.empty();
            });
  }

  /** An IANA time zone. */
  public Optional<ZoneId> timeZone(String name) {
    return string(name)
        .flatMap(
            text -> {
              if (ZoneId.getAvailableZoneIds().contains(text)) {
                return Optional.of(ZoneId.of(text));
              }
              String near =
                  Text.nearest(text, ZoneId.getAvailableZoneIds())
                      .map(zone -> " Did you mean \"" + zone + "\"?")
                      .orElse(" Write an IANA time zone, for example Europe/Berlin or UTC.");
              reject(
                  name,
                  "unknown_time_zone",
                  "There is no time zone " + Text.quote(text) + "." + near);
              return Optional.empty();
            });
  }

  public Optional<List<String>> strings(String name) {
    Optional<JsonSlice> array = slice(name);
    Optional<List<JsonNode>> nodes = array.flatMap(JsonText::elements).flatMap(Body::textNodes);
    if (array.isPresent() && nodes.isEmpty()) {
      reject(name, "wrong_type", wrongType(name, "a list of strings", array.get()));
    }
    return nodes.flatMap(
        texts -> {
          List<String> values = new ArrayList<>();
          for (JsonNode text : texts) {
            Optional<Text.Unstorable> bad = Text.unstorable(text.textValue());
            if (bad.isPresent()) {
              String pointer = name + "/" + values.size();
              reject(pointer, "invalid_text", pointer + " " + bad.get().detail() + ".");
              return Optional.empty();
            }
            values.add(text.textValue());
          }
          return Optional.of(values);
        });
  }

  /** Empty if an element is not a string. */
  private static Optional<List<JsonNode>> textNodes(List<JsonSlice> elements) {
    List<JsonNode> nodes = new ArrayList<>();
    for (JsonSlice element : elements) {
      Optional<JsonNode> node = element.startsWith('"') ? node(element) : Optional.empty();
      if (node.isEmpty()) {
        return Optional.empty();
      }
      nodes.add(node.get());
    }
    return Optional.of(nodes);
  }

  /**
   * A list of arbitrary values.
   *
   * @param sizeBytes length of each element's text in bytes of UTF-8
   * @param text reads an element's exact text on demand
   */
  public record Elements(List<Integer> sizeBytes, IntFunction<JsonText> text) {
    public int count() {
      return sizeBytes.size();
    }
  }

  public Optional<Elements> list(String name) {
    Optional<JsonSlice> array = slice(name);
    Optional<List<JsonSlice>> elements = array.flatMap(JsonText::elements);
    if (array.isPresent() && elements.isEmpty()) {
      reject(name, "wrong_type", name + " must be a list.");
    }
    return elements.map(
        slices ->
            new Elements(
                slices.stream().map(JsonSlice::sizeBytes).toList(), i -> slices.get(i).json()));
  }

  /**
   * Reads a list of objects one by one.
   *
   * @param reader reports mistakes to the Body of the element, and returns null for an invalid
   *     element
   * @return empty if the member is missing or not a list
   */
  public <T> Optional<List<T>> objects(String name, Function<Body, T> reader) {
    Optional<JsonSlice> array = slice(name);
    if (array.isEmpty()) {
      return Optional.empty();
    }
    Optional<List<JsonSlice>> elements = JsonText.elements(array.get());
    if (elements.isEmpty()) {
      reject(name, "wrong_type", name + " must be a list of objects.");
      return Optional.empty();
    }
    List<T> objects = new ArrayList<>();
    for (int i = 0; i < elements.get().size(); i++) {
      JsonSlice element = elements.get().get(i);
      if (!element.startsWith('{')) {
        reject(name + "/" + i, "wrong_type", name + " must be a list of objects.");
        continue;
      }
      Body body = new Body(JsonText.members(element), at + "/" + name + "/" + i, errors);
      objects.add(reader.apply(body));
      body.noteUnknown();
    }
    return Optional.of(objects);
  }

  /**
   * An object of strings, in the order of its members.
   *
   * @return empty if the member is missing or not an object
   */
  public Optional<Map<String, String>> texts(String name) {
    Optional<JsonSlice> object = slice(name);
    if (object.isEmpty()) {
      return Optional.empty();
    }
    if (!object.get().startsWith('{')) {
      reject(name, "wrong_type", name + " must be an object of strings.");
      return Optional.empty();
    }
    Body body = new Body(JsonText.members(object.get()), at + "/" + name, errors);
    Map<String, String> texts = new LinkedHashMap<>();
    for (String key : body.members.keySet()) {
      body.string(key).ifPresent(text -> texts.put(key, text));
    }
    return Optional.of(texts);
  }

  public void reject(String name, String code, String detail) {
    note(new Problem.FieldError(at + "/" + name, code, detail));
  }

  public void reject(List<Problem.FieldError> mistakes) {
    mistakes.forEach(this::note);
  }

  private void note(Problem.FieldError mistake) {
    if (errors.size() < MAX_ERRORS) {
      errors.add(mistake);
    }
  }

  public void require(String name) {
    if (!members.containsKey(name)) {
      reject(name, "required", name + " is required.");
    }
  }

  /**
   * Finishes reading.
   *
   * @throws Problem validation_failed with all collected mistakes, including unknown members
   */
  public void check() {
    noteUnknown();
    if (!errors.isEmpty()) {
      throw Problem.invalid(errors);
    }
  }

  private void noteUnknown() {
    for (String name : members.keySet()) {
      if (errors.size() >= MAX_ERRORS) {
        return;
      }
      if (!known.contains(name)) {
        String hint =
            Text.nearest(name, known).map(near -> " Did you mean \"" + near + "\"?").orElse("");
        String shown = Text.beginning(name, MOST_POINTER_CHARACTERS);
        String detail = "There is no field " + Text.quote(name) + "." + hint;
        note(
            new Problem.FieldError(
                at + "/" + shown.replace("~", "~0").replace("/", "~1"), "unknown_field", detail));
      }
    }
  }

  private Optional<JsonNode> scalar(
      String name, java.util.function.Predicate<JsonNode> fits, String expected) {
    Optional<JsonSlice> slice = slice(name);
    Optional<JsonNode> node = slice.flatMap(Body::node).filter(fits);
    if (slice.isPresent() && node.isEmpty()) {
      reject(name, "wrong_type", wrongType(name, expected, slice.get()));
    }
    return node;
  }

  private static String wrongType(String name, String expected, JsonSlice given) {
    return name
        + " must be "
        + expected
        + (given.isNull() ? ", not null. Leave the field out instead." : ".");
  }

  /** Empty for objects and lists, which may be large, and for extremely long numbers. */
  private static Optional<JsonNode> node(JsonSlice slice) {
    if (slice.startsWith('{') || slice.startsWith('[')) {
      return Optional.empty();
    }
    try {
      return Optional.of(SCALARS.readTree(slice.text()));
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
