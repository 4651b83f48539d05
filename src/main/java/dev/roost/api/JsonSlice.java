package dev.roost.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A JSON value as a range of the request's text. A large body is read in place, and only used
 * values are copied.
 *
 * @param whole the complete text
 * @param from index of the value's first character, after leading white space
 * @param to index after the value's last character, before trailing white space
 */
record JsonSlice(String whole, int from, int to) {
  /** More than any object that Roost reads; each member costs many times its bytes of memory. */
  static final int MAX_MEMBERS = 10_000;

  /** Ten times the longest list that a request may contain. */
  static final int MAX_ELEMENTS = 100_000;

  /** The slice without the white space around it. */
  static JsonSlice stripped(String whole, int from, int to) {
    int first = from;
    int end = to;
    while (first < end && isSpace(whole.charAt(first))) {
      first++;
    }
    while (first < end && isSpace(whole.charAt(end - 1))) {
      end--;
    }
    return new JsonSlice(whole, first, end);
  }

  boolean isEmpty() {
    return from == to;
  }

  /** Length of the text in bytes of UTF-8. */
  int sizeBytes() {
    return Text.sizeBytes(whole, from, to);
  }

  String text() {
    return whole.substring(from, to);
  }

  JsonText json() {
    return new JsonText(text());
  }

  /** Whether the value begins with this character, which identifies its type. */
  boolean startsWith(char first) {
    return from < to && whole.charAt(from) == first;
  }

  boolean isNull() {
    return startsWith('n');
  }

  /**
   * The members of this object.
   *
   * @param isWhole whether the text must end with the object
   * @throws Problem malformed_json: not an object, or a duplicate member; validation_failed: more
   *     than {@link #MAX_MEMBERS} members
   */
  Map<String, JsonSlice> members(JsonFactory factory, boolean isWhole) throws IOException {
    Map<String, JsonSlice> members = new LinkedHashMap<>();
    try (JsonParser parser = parser(factory)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw Problem.of(ErrorCode.MALFORMED_JSON, "A JSON object, {…}, is required.");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (members.put(name, value(parser)) != null) {
          throw Problem.of(
              ErrorCode.MALFORMED_JSON, "The field " + Text.quote(name) + " occurs twice.");
        }
        if (members.size() > MAX_MEMBERS) {
          throw Problem.of(
              ErrorCode.VALIDATION_FAILED,
              "An object has more than %,d fields.".formatted(MAX_MEMBERS));
        }
      }
      if (isWhole) {
        JsonText.requireEnd(parser);
      }
    }
    return members;
  }

  /**
   * The elements of this array; empty if the value is not an array.
   *
   * @throws Problem validation_failed: more than {@link #MAX_ELEMENTS} elements
   */
  Optional<List<JsonSlice>> elements(JsonFactory factory) throws IOException {
    if (!startsWith('[')) {
      return Optional.empty();
    }
    List<JsonSlice> elements = new ArrayList<>();
    try (JsonParser parser = parser(factory)) {
      parser.nextToken();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        elements.add(value(parser));
        if (elements.size() > MAX_ELEMENTS) {
          throw Problem.of(
              ErrorCode.VALIDATION_FAILED,
              "A list has more than %,d elements.".formatted(MAX_ELEMENTS));
        }
      }
    }
    return Optional.of(elements);
  }

  private JsonParser parser(JsonFactory factory) throws IOException {
    StringReader reader = new StringReader(whole);
    reader.skip(from);
    return factory.createParser(reader);
  }

  /** Reads the value at the parser's position and moves the parser to the end of the value. */
  private JsonSlice value(JsonParser parser) throws IOException {
    int start = from + (int) parser.currentTokenLocation().getCharOffset();
    parser.skipChildren();
    parser.finishToken();
    int end = from + (int) parser.currentLocation().getCharOffset();
    return stripped(whole, start, end);
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  }
}
