package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;

/** What a request was answered. */
record HttpAnswer(int status, HttpHeaders headers, String text) {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  static {
    MAPPER
        .getFactory()
        .setStreamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(20_000)
                .maxNumberLength(Integer.MAX_VALUE)
                .maxStringLength(Integer.MAX_VALUE)
                .build());
  }

  /** Fails with the whole answer when the status is another one. */
  HttpAnswer expect(int expected) {
    String start = text.length() > 3_000 ? text.substring(0, 3_000) + "…" : text;
    assertEquals(expected, status, start);
    return this;
  }

  JsonNode json() {
    return parse(text);
  }

  static JsonNode parse(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError("not JSON: " + text, e);
    }
  }

  /** A Java value (string, number, list, map, …) as JSON. */
  static String write(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  String header(String name) {
    return headers.firstValue(name).orElse(null);
  }

  /** The values of one member of every element of a page. */
  static List<String> column(JsonNode page, String member) {
    List<String> values = new ArrayList<>();
    page.path("data").forEach(element -> values.add(element.path(member).asText()));
    return values;
  }
}
