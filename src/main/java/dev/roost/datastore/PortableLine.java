package dev.roost.datastore;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Json;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * An entry as one line of an export or import. The value is the exact text: unchanged in {@code
 * value}, or as a string in {@code text} when it would break the line.
 *
 * @param ttlSeconds null: not given
 * @param expiresAt null: not given
 */
record PortableLine(String key, JsonText value, Double ttlSeconds, Instant expiresAt) {
  /** RFC 3339 has four digits for the year. */
  private static final int LAST_YEAR = 9_999;

  /** For field names, an expiry, and some white space. */
  private static final int OTHER_BYTES = 4_096;

  /** Any character may be an escape sequence of six bytes. */
  private static final int ESCAPE_BYTES = 6;

  /** The length limit of a line with the largest key and value. */
  static long maxBytes(RoostConfig.Limits limits) {
    long content = (long) limits.storeKeyBytes() + limits.storeValueBytes();
    return ESCAPE_BYTES * content + OTHER_BYTES;
  }

  /** Appends an entry's line, including the newline. */
  static void append(Entry entry, ByteArrayOutputStream lines) {
    String text = entry.value().text();
    StringBuilder start = new StringBuilder("{\"key\":");
    quote(entry.key(), start);
    if (fitsLine(text)) {
      start.append(",\"value\":");
      lines.writeBytes(utf8(start));
      lines.writeBytes(utf8(text));
    } else {
      start.append(",\"text\":");
      quote(text, start);
      lines.writeBytes(utf8(start));
    }
    String expiry = entry.expiresAt() == null ? "null" : '"' + Json.time(entry.expiresAt()) + '"';
    lines.writeBytes(utf8(",\"expires_at\":" + expiry + "}\n"));
  }

  /**
   * @throws Problem malformed_json, validation_failed, too_large; the detail has no line number
   */
  static PortableLine parse(byte[] utf8, RoostConfig.Limits limits) {
    Body body = Body.parseLine(utf8);
    body.require("key");
    String key = body.anyString("key").orElse("");
    if (body.isNull("key")) {
      body.reject("key", "wrong_type", "key must be a string, not null.");
    }
    JsonText value = value(body);
    Instant expiresAt = expiry(body);
    Double ttl = TransactionBody.ttl(body);
    if (ttl != null && expiresAt != null) {
      body.reject("ttl", "contradictory", "Send expires_at or ttl, not both.");
    }
    body.check();
    EntryKey.bytes("/key", key, limits.storeKeyBytes());
    Entries.valueBytes(value, limits.storeValueBytes());
    return new PortableLine(key, value, ttl, expiresAt);
  }

  private static JsonText value(Body body) {
    JsonText value = body.json("value").orElse(null);
    boolean hasText = body.json("text").isPresent();
    if (!hasText) {
      if (value == null) {
        body.reject(
            "value", "required", "value (or, for its exact text as a string, text) is required.");
      }
      return value;
    }
    String text = body.string("text").orElse(null);
    if (value != null) {
      body.reject("text", "contradictory", "Send value or text, not both.");
    }
    if (text != null && !JsonText.isValid(text)) {
      throw Problem.of(ErrorCode.MALFORMED_JSON, "text does not contain valid JSON.");
    }
    return JsonText.ofNullable(text);
  }

  private static Instant expiry(Body body) {
    if (body.isNull("expires_at")) {
      return null;
    }
    String text = body.string("expires_at").orElse(null);
    if (text == null) {
      return null;
    }
    try {
      OffsetDateTime time = OffsetDateTime.parse(text);
      if (time.getYear() >= 0 && time.getYear() <= LAST_YEAR) {
        return time.toInstant();
      }
    } catch (DateTimeException e) {
      // Reported below, as a year that is out of range.
    }
    body.reject(
        "expires_at",
        "wrong_type",
        "expires_at must be an RFC 3339 time, for example 2026-11-21T18:12:41.123456Z.");
    return null;
  }

  /**
   * Whether the text is safe on one line: line readers don't split it, and JSON parsers drop
   * nothing. Some programs also end lines at Unicode's line separators.
   */
  private static boolean fitsLine(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (isLineBreak(text.charAt(i))) {
        return false;
      }
    }
    return !isSpace(text.charAt(0)) && !isSpace(text.charAt(text.length() - 1));
  }

  private static boolean isLineBreak(char c) {
    return c == '\n' || c == '\r' || c == '\u0085' || c == '\u2028' || c == '\u2029';
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == '\t';
  }

  private static void quote(String text, StringBuilder line) {
    line.append('"');
    for (char c : JsonStringEncoder.getInstance().quoteAsString(text)) {
      if (isLineBreak(c)) {
        line.append("\\u%04x".formatted((int) c));
      } else {
        line.append(c);
      }
    }
    line.append('"');
  }

  private static byte[] utf8(CharSequence text) {
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
