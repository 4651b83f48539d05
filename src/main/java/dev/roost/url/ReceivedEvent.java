package dev.roost.url;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A CloudEvent (version 1.0) that an agent receives, in the binary mode of its HTTP binding: the
 * attributes are headers, and the body is the data.
 */
final class ReceivedEvent {
  static final String STRUCTURED = "application/cloudevents+json";
  static final String BATCH = "application/cloudevents-batch+json";

  private static final String PREFIX = "ce-";
  private static final List<String> REQUIRED = List.of("specversion", "id", "source", "type");
  private static final Pattern NAME = Pattern.compile("[a-z0-9]{1,50}");
  private static final Pattern JSON = Pattern.compile("(?:[^/]+/)?(?:.+\\+)?json");

  /** Members of the event that aren't attributes. */
  private static final List<String> DATA = List.of("data", "data_base64");

  private ReceivedEvent() {}

  /** Whether the request is an event in binary mode. */
  static boolean isBinary(RunRequest request) {
    return request.header(PREFIX + "specversion") != null;
  }

  /**
   * The members of the event, as in structured mode.
   *
   * @throws Problem malformed_json, validation_failed
   */
  static Map<String, Object> members(RunRequest request) {
    Map<String, Object> event = new LinkedHashMap<>();
    List<Problem.FieldError> mistakes = new ArrayList<>();
    for (String name : REQUIRED) {
      attribute(request, name)
          .ifPresentOrElse(
              value -> event.put(name, value),
              () ->
                  mistakes.add(
                      new Problem.FieldError(
                          PREFIX + name, "required", "A CloudEvent requires " + name + ".")));
    }
    if (!mistakes.isEmpty()) {
      throw Problem.invalid(mistakes);
    }
    for (String header : request.headers().keySet()) {
      String name = header.startsWith(PREFIX) ? header.substring(PREFIX.length()) : "";
      if (NAME.matcher(name).matches() && !event.containsKey(name) && !DATA.contains(name)) {
        attribute(request, name).ifPresent(value -> event.put(name, value));
      }
    }
    String type = request.header("content-type");
    if (type != null) {
      event.put("datacontenttype", type);
    }
    addData(event, request);
    return event;
  }

  private static void addData(Map<String, Object> event, RunRequest request) {
    if (request.body().length == 0) {
      return;
    }
    String type = request.mediaType();
    if (type.isEmpty() || JSON.matcher(type).matches()) {
      event.put("data", JsonText.parse(request.body()));
      return;
    }
    Optional<String> text = HttpPayload.text(request.body());
    if (text.isPresent()) {
      event.put("data", text.get());
    } else {
      event.put("data_base64", Base64.getEncoder().encodeToString(request.body()));
    }
  }

  /** An attribute that isn't empty; its value is percent-encoded where it isn't printable ASCII. */
  static Optional<String> attribute(RunRequest request, String name) {
    String value = request.header(PREFIX + name);
    return value == null || value.isBlank() ? Optional.empty() : Optional.of(decode(value));
  }

  /** Percent signs that don't begin an encoded byte stay. */
  private static String decode(String value) {
    if (value.indexOf('%') < 0) {
      return value;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] given = value.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < given.length; i++) {
      int high = i + 2 < given.length ? Character.digit(given[i + 1], 16) : -1;
      int low = i + 2 < given.length ? Character.digit(given[i + 2], 16) : -1;
      if (given[i] == '%' && high >= 0 && low >= 0) {
        bytes.write(high * 16 + low);
        i += 2;
      } else {
        bytes.write(given[i]);
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /** The refusal of several events in one request. */
  static Problem batch() {
    return Problem.of(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        "Send one CloudEvent per request: in structured mode (" + STRUCTURED + ") or binary mode.");
  }
}
