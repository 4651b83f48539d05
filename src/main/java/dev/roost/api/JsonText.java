package dev.roost.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A JSON value as its exact text. Number text, key order and escapes are kept, since no Java type
 * represents {@code 1.10}, {@code 1e400} or a lone surrogate. Responses contain the text unchanged.
 */
@JsonSerialize(using = JsonText.Serializer.class)
public record JsonText(String text) {
  /** Deeper than the limit of any parser that a script may use, and still cheap to parse. */
  static final int MAX_DEPTH = 5_000;

  private static final StreamReadConstraints CONSTRAINTS = constraints(MAX_DEPTH);

  private static final JsonFactory STRICT =
      JsonFactory.builder()
          .streamReadConstraints(CONSTRAINTS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  /** The parser's advice to developers, which is of no use to API clients. */
  private static final Pattern ADVICE = Pattern.compile(": enable `\\S+` to allow$");

  private static final JsonFactory LENIENT =
      JsonFactory.builder().streamReadConstraints(CONSTRAINTS).build();

  /** For an object around a value of the maximum depth. */
  private static final JsonFactory AROUND =
      JsonFactory.builder().streamReadConstraints(constraints(MAX_DEPTH + 1)).build();

  /** The text, or null for null, for a nullable column. */
  public static JsonText ofNullable(String text) {
    return text == null ? null : new JsonText(text);
  }

  /**
   * Parses a value from a user.
   *
   * @throws Problem malformed_json, also for duplicate keys of an object
   */
  public static JsonText parse(byte[] utf8) {
    String text = decode(utf8);
    try (JsonParser parser = STRICT.createParser(text)) {
      if (parser.nextToken() == null) {
        throw Problem.of(ErrorCode.MALFORMED_JSON, "The body is empty; a JSON value is required.");
      }
      parser.skipChildren();
      requireEnd(parser);
      return new JsonText(text.strip());
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** Whether a script's return value is valid JSON. Duplicate keys are valid. */
  public static boolean isValid(String text) {
    try (JsonParser parser = LENIENT.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * The members of an object as slices of the text; empty if the text contains only white space.
   *
   * @throws Problem malformed_json
   */
  static Map<String, JsonSlice> members(byte[] utf8) {
    String text = decode(utf8);
    JsonSlice object = JsonSlice.stripped(text, 0, text.length());
    return object.isEmpty() ? Map.of() : members(object, true);
  }

  /** The members of an object within text that was already parsed. */
  static Map<String, JsonSlice> members(JsonSlice object) {
    return members(object, false);
  }

  private static Map<String, JsonSlice> members(JsonSlice object, boolean isWhole) {
    try {
      return object.members(STRICT, isWhole);
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /**
   * The members of an object on one line. Nested objects may have duplicate keys, as in values
   * stored by scripts.
   *
   * @throws Problem malformed_json, also for a duplicate member
   */
  static Map<String, JsonSlice> membersOfLine(byte[] utf8) {
    String line = decode(utf8);
    try {
      return new JsonSlice(line, 0, line.length()).members(AROUND, true);
    } catch (JsonProcessingException e) {
      // The caller adds the line number.
      var at = e.getLocation();
      String column = at == null ? "" : " (column %d)".formatted(at.getColumnNr());
      throw Problem.of(ErrorCode.MALFORMED_JSON, message(e) + column);
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** The elements of an array; empty if the value is not an array. */
  static Optional<List<JsonSlice>> elements(JsonSlice array) {
    try {
      return array.elements(LENIENT);
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  private static StreamReadConstraints constraints(int depth) {
    return StreamReadConstraints.builder()
        .maxNestingDepth(depth)
        .maxNumberLength(Integer.MAX_VALUE)
        .maxStringLength(Integer.MAX_VALUE)
        .maxNameLength(Integer.MAX_VALUE)
        .build();
  }

  static void requireEnd(JsonParser parser) throws IOException {
    parser.finishToken();
    if (parser.nextToken() != null) {
      throw Problem.of(
          ErrorCode.MALFORMED_JSON, "The body continues after the end of the JSON value.");
    }
  }

  private static String decode(byte[] utf8) {
    String text = new String(utf8, StandardCharsets.UTF_8);
    // Invalid UTF-8 becomes U+FFFD, so only text with U+FFFD needs the slow check.
    if (text.indexOf('\ufffd') >= 0) {
      try {
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8));
      } catch (CharacterCodingException e) {
        throw Problem.of(ErrorCode.MALFORMED_JSON, "The body is not valid UTF-8.");
      }
    }
    return text;
  }

  private static Problem malformed(IOException e) {
    String detail = "The body is not valid JSON.";
    if (e instanceof JsonProcessingException json) {
      var at = json.getLocation();
      detail = message(json);
      if (at != null) {
        detail += " (line %d, column %d)".formatted(at.getLineNr(), at.getColumnNr());
      }
    }
    return Problem.of(ErrorCode.MALFORMED_JSON, detail);
  }

  private static String message(JsonProcessingException e) {
    return ADVICE.matcher(e.getOriginalMessage()).replaceFirst(" is not valid JSON");
  }

  static final class Serializer extends JsonSerializer<JsonText> {
    @Override
    public void serialize(JsonText value, JsonGenerator generator, SerializerProvider provider)
        throws IOException {
      generator.writeRawValue(value.text());
    }
  }
}
