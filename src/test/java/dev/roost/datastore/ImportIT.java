package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which lines an import takes, and what it says about those that it doesn't. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class ImportIT {
  private static final String LINES = "application/x-ndjson";

  private Api api;
  private String path;

  @BeforeEach
  void makeStore() {
    api = Api.as(Role.WRITE);
    path = "/v1/datastore/" + api.post("/v1/datastore", "{}").get("id");
  }

  @Test
  void blankLinesOtherLineEndsAndALastLineWithoutOneAreTaken() {
    Answer imported =
        load("\n  \r\n{\"key\":\"a\",\"value\":1}\r\n\n{\"key\":\"b\",\"text\":\" 2\"}");
    assertEquals("{\"imported\":2,\"expired\":0}", imported.text());
    assertEquals("1", api.get(path + "/entries/a").text());
    assertEquals(" 2", api.get(path + "/entries/b").text());
    assertEquals(
        200,
        load("{\"key\":\"a\",\"value\":3}", "Content-Type", LINES + ";charset=utf-8").status());
  }

  @Test
  void theLastLineOfAKeyStands() {
    api.put(path + "/entries/a", "0");
    api.put(path + "/entries/b", "0");
    Answer imported =
        load(
            "{\"key\":\"a\",\"value\":1}\n{\"key\":\"c\",\"value\":1}\n{\"key\":\"a\",\"value\":2}\n");
    assertEquals("{\"imported\":3,\"expired\":0}", imported.text());
    assertEquals("2", api.get(path + "/entries/a").text());
    assertEquals("0", api.get(path + "/entries/b").text());
  }

  @Test
  void everyMistakeIsReportedWithItsLine() {
    refuse(400, "malformed_json", "{\"key\":\"a\"", "(column ");
    refuse(400, "malformed_json", "[1]", "object");
    refuse(400, "malformed_json", "{\"key\":\"a\",\"value\":NaN}", "NaN");
    refuse(400, "malformed_json", "{\"key\":\"a\",\"value\":1} {}", "continues after");
    refuse(
        400, "malformed_json", "{\"key\":\"a\",\"value\":1,\"value\":2}", "\"value\" occurs twice");
    refuse(400, "malformed_json", "{\"key\":\"a\",\"text\":\"NaN\"}", "text");
    refuse(400, "malformed_json", "\ufeff{\"key\":\"a\",\"value\":1}", "");
    refuse(422, "validation_failed", "{\"value\":1}", "key is required");
    refuse(422, "validation_failed", "{\"key\":null,\"value\":1}", "key");
    refuse(422, "validation_failed", "{\"key\":1,\"value\":1}", "key must be a string");
    refuse(422, "validation_failed", "{\"key\":\"\",\"value\":1}", "must not be empty");
    refuse(422, "validation_failed", "{\"key\":\"\\ud800\",\"value\":1}", "surrogate");
    refuse(422, "validation_failed", "{\"key\":\"" + "x".repeat(513) + "\",\"value\":1}", "513");
    refuse(422, "validation_failed", "{\"key\":\"a\"}", "value");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"value\":1,\"text\":\"1\"}", "not both");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"text\":null}", "text");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"text\":1}", "text must be a string");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"value\":1,\"ttl\":0}", "ttl");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"value\":1,\"ttl\":\"1\"}", "ttl");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"value\":1,\"expires_at\":1}", "expires_at");
    refuse(
        422,
        "validation_failed",
        "{\"key\":\"a\",\"value\":1,\"expires_at\":\"soon\"}",
        "RFC 3339");
    refuse(
        422,
        "validation_failed",
        "{\"key\":\"a\",\"value\":1,\"ttl\":1,\"expires_at\":\"2126-01-01T00:00:00Z\"}",
        "not both");
    refuse(422, "validation_failed", "{\"key\":\"a\",\"vallue\":1}", "2 errors");
    refuse(
        413,
        "too_large",
        "{\"key\":\"a\",\"value\":\"" + "x".repeat(1_048_575) + "\"}",
        "1,048,576");
    refuse(413, "too_large", "x".repeat(7 << 20), "bytes");
  }

  @Test
  void theMistakesOfALineAreListed() {
    Answer answer = load("{\"key\":\"a\",\"value\":1}\n{\"kee\":1}\n");
    assertEquals(422, answer.status());
    assertEquals(List.of("/key", "/value", "/kee"), answer.get("errors.pointer"));
    assertEquals(List.of(2, 2, 2), answer.get("errors.line"));
    assertTrue(
        answer.<String>get("detail").startsWith("line 2: 3 errors; the first: key is required."));
  }

  @Test
  void aByteOrderMarkIsNamed() {
    String detail = load("\ufeff{\"key\":\"a\",\"value\":1}").get("detail");
    assertTrue(detail.startsWith("line 1: The line begins with a byte order mark"), detail);
    assertTrue(detail.endsWith("Nothing is stored."), detail);
  }

  @Test
  void whatIsNoUtf8IsRefused() {
    byte[] latin = {'{', '"', (byte) 0xe9, '"', ':', '1', '}'};
    Answer answer = Streams.post(api, path + "/import", latin);
    assertEquals(400, answer.status());
    String detail = answer.get("detail");
    assertTrue(detail.startsWith("line 1: ") && detail.contains("UTF-8"), detail);
  }

  @Test
  void theBatchesBeforeAMistakeAreStored() {
    String lines =
        IntStream.rangeClosed(1, 2_500)
            .mapToObj(n -> n == 2_400 ? "{}\n" : "{\"key\":\"k%04d\",\"value\":1}\n".formatted(n))
            .collect(Collectors.joining());
    Answer answer = load(lines);
    assertEquals(422, answer.status());
    String detail = answer.get("detail");
    assertTrue(detail.startsWith("line 2400: "), detail);
    assertTrue(detail.contains("The 2000 lines before line 2001 are stored"), detail);
    assertEquals(2_000, (int) api.get(path).get("entries"));
    String corrected = lines.replace("{}", "{\"key\":\"k2400\",\"value\":1}");
    assertEquals(2_500, (int) load(corrected).get("imported"));
    assertEquals(2_500, (int) api.get(path).get("entries"));
  }

  @Test
  void aBatchEndsAtFourMebibytes() {
    String lines =
        IntStream.rangeClosed(1, 6)
            .mapToObj(
                n -> "{\"key\":\"%d\",\"value\":\"%s\"}\n".formatted(n, "x".repeat(1_000_000)))
            .collect(Collectors.joining());
    String detail = load(lines + "{}").get("detail");
    assertTrue(detail.startsWith("line 7: "), detail);
    assertTrue(detail.contains("The 4 lines before line 5 are stored"), detail);
    assertEquals(4, (int) api.get(path).get("entries"));
  }

  private void refuse(int status, String code, String line, String hint) {
    String good = "{\"key\":\"good\",\"value\":1}\n";
    Answer answer = load(good + line + "\n" + good);
    String detail = answer.get("detail");
    assertEquals(status, answer.status(), answer.text());
    assertEquals(code, answer.get("code"), detail);
    assertTrue(detail.startsWith("line 2: "), detail);
    assertTrue(detail.contains(hint), detail);
    assertTrue(detail.endsWith("Nothing is stored."), detail);
    assertFalse(detail.contains("(line"), detail);
    assertEquals(404, api.get(path + "/entries/good").status());
  }

  private Answer load(String lines, String... headers) {
    String[] all = headers.length == 0 ? new String[] {"Content-Type", LINES} : headers;
    return api.post(path + "/import", lines, all);
  }
}
