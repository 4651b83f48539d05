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
 * A JSON value as the exact text that came in: number text, key order and escapes are kept, since
 * no Java type holds {@code 1.10}, {@code 1e400} or a lone surrogate. Written into an answer as it
 * is.
 */
@JsonSerialize(using = JsonText.Serializer.class)
public record JsonText(String text) {
  /** Deeper than any parser that a script may use, and still no burden. */
  static final int MAX_DEPTH = 5_000;

  private static final StreamReadConstraints CONSTRAINTS = constraints(MAX_DEPTH);

  private static final JsonFactory STRICT =
      JsonFactory.builder()
          .streamReadConstraints(CONSTRAINTS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  /** What the parser advises its programmer is of no use to who has sent the text. */
  private static final Pattern ADVICE = Pattern.compile(": enable `\\S+` to allow$");

  private static final JsonFactory LENIENT =
      JsonFactory.builder().streamReadConstraints(CONSTRAINTS).build();

  /** For an object around a value that may itself be as deep as any. */
  private static final JsonFactory AROUND =
      JsonFactory.builder().streamReadConstraints(constraints(MAX_DEPTH + 1)).build();

  /** The text, or null for null: what a nullable column becomes in a view. */
  public static JsonText ofNullable(String text) {
    return text == null ? null : new JsonText(text);
  }

  /**
   * A value from a user.
   *
   * @throws Problem malformed_json, also for a key that an object has twice
   */
  public static JsonText parse(byte[] utf8) {
    String text = decode(utf8);
    try (JsonParser parser = STRICT.createParser(text)) {
      if (parser.nextToken() == null) {
        throw Problem.of(ErrorCode.MALFORMED_JSON, "The body is empty; a JSON value is needed.");
      }
      parser.skipChildren();
      requireEnd(parser);
      return new JsonText(text.strip());
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /**
   * Whether a script's own return value is JSON: a script could write anything there. Keys may
   * repeat.
   */
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
   * The members of an object, each where it stands in the text; none where there is nothing but
   * white space.
   *
   * @throws Problem malformed_json
   */
  static Map<String, JsonSlice> members(byte[] utf8) {
    String text = decode(utf8);
    JsonSlice object = JsonSlice.stripped(text, 0, text.length());
    return object.isEmpty() ? Map.of() : members(object, true);
  }

  /** The members of an object that is part of what was read before. */
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
   * The members of an object that takes one line. Each of them is JSON, but objects within them may
   * have a key twice, as in what a script may store.
   *
   * @throws Problem malformed_json, also for a member that is there twice
   */
  static Map<String, JsonSlice> membersOfLine(byte[] utf8) {
    String line = decode(utf8);
    try {
      return new JsonSlice(line, 0, line.length()).members(AROUND, true);
    } catch (JsonProcessingException e) {
      // Whoever sent many lines is told which one by the caller.
      var at = e.getLocation();
      String column = at == null ? "" : " (column %d)".formatted(at.getColumnNr());
      throw Problem.of(ErrorCode.MALFORMED_JSON, message(e) + column);
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** The elements of an array; empty where this is none. */
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
      throw Problem.of(ErrorCode.MALFORMED_JSON, "There is more after the end of the JSON value.");
    }
  }

  private static String decode(byte[] utf8) {
    String text = new String(utf8, StandardCharsets.UTF_8);
    // What is not UTF-8 becomes U+FFFD, so only text with that one needs the slower look.
    if (text.indexOf('\ufffd') >= 0) {
      try {
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8));
      } catch (CharacterCodingException e) {
        throw Problem.of(ErrorCode.MALFORMED_JSON, "What was sent is not valid UTF-8.");
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
    return ADVICE.matcher(e.getOriginalMessage()).replaceFirst(" is no JSON");
  }

  static final class Serializer extends JsonSerializer<JsonText> {
    @Override
    public void serialize(JsonText value, JsonGenerator generator, SerializerProvider provider)
        throws IOException {
      generator.writeRawValue(value.text());
    }
  }
}
