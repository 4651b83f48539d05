package dev.roost.url;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.RequestFilters;
import dev.roost.api.SessionCookie;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Makes the payload of a job of a request. */
final class HttpPayload {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** Of the connection between the client and Roost, or credentials for Roost itself. */
  private static final Set<String> NOT_PASSED_ON =
      Set.of(
          "connection",
          "expect",
          "keep-alive",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          RequestFilters.PAGE_TOKEN.toLowerCase(Locale.ROOT));

  /** How API keys begin. */
  private static final String KEY = "roost_";

  private HttpPayload() {}

  /**
   * @return null: no payload
   * @throws Problem malformed_json, validation_failed, unsupported_media_type
   */
  static JsonText of(RunRequest request, AgentUrl url) {
    return switch (url.format()) {
      case HTTP -> whole(request, url);
      case JSON -> json(request);
    };
  }

  private static JsonText json(RunRequest request) {
    String type = request.mediaType();
    if (type.equals(ReceivedEvent.BATCH)) {
      throw ReceivedEvent.batch();
    }
    if (ReceivedEvent.isBinary(request)) {
      return text(ReceivedEvent.members(request));
    }
    if (request.isRead()) {
      return query(request);
    }
    if (request.body().length == 0) {
      return null;
    }
    JsonText payload = parse(request.body(), type);
    if (type.equals(ReceivedEvent.STRUCTURED)) {
      checkEvent(request.body());
    }
    return payload;
  }

  /** Forms are no JSON, but some programs say that of JSON, curl among them. */
  private static JsonText parse(byte[] body, String type) {
    try {
      return JsonText.parse(body);
    } catch (Problem e) {
      if (type.equals("application/x-www-form-urlencoded") || type.startsWith("multipart/")) {
        throw Problem.of(
            ErrorCode.UNSUPPORTED_MEDIA_TYPE,
            "Send JSON. Agents whose URL has the format http take forms and any other body.");
      }
      throw e;
    }
  }

  private static void checkEvent(byte[] json) {
    Body event = Body.parse(json);
    List<Problem.FieldError> mistakes = new ArrayList<>();
    for (String name : List.of("specversion", "id", "source", "type")) {
      if (event.anyString(name).filter(text -> !text.isEmpty()).isEmpty()) {
        mistakes.add(
            new Problem.FieldError(
                "/" + name, "required", "A CloudEvent requires " + name + ", a string."));
      }
    }
    if (!mistakes.isEmpty()) {
      throw Problem.invalid(mistakes);
    }
  }

  private static JsonText query(RunRequest request) {
    Map<String, String> parameters = new LinkedHashMap<>();
    request
        .parameters()
        .forEach(
            (name, values) -> {
              if (values.size() > 1) {
                throw Problem.invalid(
                    "?" + name.replace("\0", ""),
                    "repeated",
                    "A query parameter must not occur twice; send a list as JSON in the body of a POST.");
              }
              parameters.put(name, values.get(0));
            });
    return text(parameters);
  }

  private static JsonText whole(RunRequest request, AgentUrl url) {
    Map<String, Object> http = new LinkedHashMap<>();
    http.put("method", request.method());
    http.put("path", request.path());
    http.put("query", request.parameters());
    http.put("headers", headers(request, url));
    Optional<String> body = text(request.body());
    if (body.isPresent()) {
      http.put("body", body.get());
    } else {
      http.put("body_base64", Base64.getEncoder().encodeToString(request.body()));
    }
    return text(Map.of("http", http));
  }

  /** The headers that a script gets: by name in lower case, several values joined by commas. */
  private static Map<String, String> headers(RunRequest request, AgentUrl url) {
    Map<String, String> headers = new LinkedHashMap<>();
    request
        .headers()
        .forEach(
            (name, values) -> {
              if (NOT_PASSED_ON.contains(name)
                  || name.equals("authorization") && isOfRoost(values, url)) {
                return;
              }
              String value = name.equals("cookie") ? cookies(values) : String.join(", ", values);
              if (!name.equals("cookie") || !value.isEmpty()) {
                headers.put(name, value);
              }
            });
    return headers;
  }

  private static boolean isOfRoost(List<String> authorization, AgentUrl url) {
    return url.authentication() == UrlAuthentication.KEY
        || authorization.stream().anyMatch(value -> value.contains(KEY));
  }

  /** The cookies without those of the dashboard. */
  private static String cookies(List<String> values) {
    return values.stream()
        .flatMap(value -> Arrays.stream(value.split(";")))
        .map(String::strip)
        .filter(cookie -> !cookie.isEmpty() && !cookie.startsWith(SessionCookie.NAME))
        .collect(Collectors.joining("; "));
  }

  /** Empty if the bytes aren't UTF-8. */
  static Optional<String> text(byte[] bytes) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  private static JsonText text(Map<String, ?> members) {
    try {
      return new JsonText(MAPPER.writeValueAsString(members));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
