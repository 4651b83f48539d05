package dev.roost.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The documentation at /help, which packaging builds (src/main/help/build.py). */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class HelpIT {
  private static final Pattern HASHED =
      Pattern.compile("(?:src|href)=\"(?:\\.\\./|/help/)(assets/[^\"]+\\.min\\.(?:css|js))\"");

  private final Api nobody = Api.withKey(null);

  @Test
  void everyoneReadsPagesWithTheHeadersOfTheDashboard() {
    String policy = nobody.get("/").header("Content-Security-Policy");
    assertFalse(policy.contains("unsafe"), policy);
    for (String address : List.of("/help/", "/help/agents/", "/help/decisions/")) {
      Answer page = nobody.get(address);
      assertEquals(200, page.status(), address);
      assertTrue(page.header("Content-Type").startsWith("text/html"), address);
      assertEquals(policy, page.header("Content-Security-Policy"), address);
      assertEquals("nosniff", page.header("X-Content-Type-Options"), address);
      assertEquals("no-cache", page.header("Cache-Control"), address);
      assertTrue(page.text().contains("<title>"), address);
      assertTrue(page.text().contains("Roost 0."), address + " says the version");
      assertFalse(page.text().contains("<script>"), address + " has an inline script");
      assertFalse(page.text().contains("style=\""), address + " has an inline style");
    }
  }

  @Test
  void headHasNoBody() {
    Answer page = nobody.send("HEAD", "/help/agents/", null);
    assertEquals(200, page.status());
    assertEquals("", page.text());
  }

  @Test
  void aPageWithoutItsSlashIsRedirected() {
    for (String address : List.of("/help", "/help/agents", "/help/reference/rest")) {
      Answer moved = nobody.get(address + "?q=1");
      assertEquals(302, moved.status(), address);
      assertEquals(address + "/?q=1", moved.header("Location"));
    }
  }

  @Test
  void unknownPagesHaveAPageThatSaysSo() {
    for (String address :
        List.of(
            "/help/nothing",
            "/help/nothing/",
            "/help/agents/nothing.png",
            "/help/images",
            "/help/..%2f..%2f..%2fapplication.properties")) {
      Answer answer = nobody.get(address);
      assertEquals(404, answer.status(), address);
      assertTrue(answer.text().contains("Not found"), answer.text());
      assertTrue(answer.text().contains("\"/help/assets/"), "links that fit every address");
      assertTrue(answer.header("Content-Security-Policy").contains("default-src 'none'"), address);
    }
    assertEquals("not_found", nobody.get("/helpless").get("code"));
    assertTrue(nobody.post("/help/agents/", "{}").status() >= 400);
  }

  @Test
  void aPageThatHasNotChangedIsNotSentAgain() {
    String changed = nobody.get("/help/agents/").header("Last-Modified");
    Answer again = nobody.get("/help/agents/", "If-Modified-Since", changed);
    assertEquals(304, again.status());
    assertEquals("", again.text());
  }

  @Test
  void filesAreCompressedAndThoseWithTheirContentInTheirNameAreKept() {
    List<String> files =
        HASHED.matcher(nobody.get("/help/agents/").text()).results().map(m -> m.group(1)).toList();
    assertTrue(files.size() >= 4, files::toString);
    for (String file : files) {
      Answer answer = nobody.get("/help/" + file, "Accept-Encoding", "gzip");
      assertEquals(200, answer.status(), file);
      assertEquals("gzip", answer.header("Content-Encoding"), file);
      assertTrue(answer.header("Cache-Control").contains("immutable"), file);
    }
    Answer index = nobody.get("/help/search/search_index.json", "Accept-Encoding", "gzip");
    assertEquals("gzip", index.header("Content-Encoding"));
    assertEquals("no-cache", index.header("Cache-Control"));
  }
}
