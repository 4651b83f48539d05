package dev.roost.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What browsers get: one document for every page, its files, and nothing of the other addresses.
 */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class PagesIT {
  private static final Path ROUTES = Path.of("src/main/resources/web/app/shell/routes.ts");

  private final Api nobody = Api.withKey(null);

  @Test
  void everyPageOfTheDashboardHasTheDocument() throws IOException {
    String document = nobody.get("/").text();
    assertTrue(document.contains("<roost-app>"), document);
    List<String> addresses = addresses();
    assertTrue(addresses.size() > 10, addresses::toString);
    for (String address : addresses) {
      Answer answer = nobody.get(address);
      assertEquals(200, answer.status(), address);
      assertEquals(document, answer.text(), address);
      checkHeaders(answer);
    }
    checkHeaders(nobody.get("/login?token=once"));
    checkHeaders(nobody.send("HEAD", "/agents", null));
  }

  /** Of the routes that the browser has, a page each; parameters have some value. */
  private static List<String> addresses() throws IOException {
    return Pattern.compile("path: \"(.+?)\"")
        .matcher(Files.readString(ROUTES))
        .results()
        .map(match -> match.group(1).replaceAll(":\\w+\\??", "some"))
        .toList();
  }

  private static void checkHeaders(Answer answer) {
    String policy = answer.header("Content-Security-Policy");
    assertTrue(
        policy.startsWith("default-src 'none'; script-src 'self'; style-src 'self';"), policy);
    assertTrue(policy.contains("frame-ancestors 'none'"), policy);
    assertFalse(policy.contains("unsafe"), policy);
    assertEquals("no-referrer", answer.header("Referrer-Policy"));
    assertEquals("nosniff", answer.header("X-Content-Type-Options"));
    assertEquals("same-origin", answer.header("Cross-Origin-Opener-Policy"));
    assertEquals("no-cache", answer.header("Cache-Control"));
    assertTrue(answer.header("Content-Type").startsWith("text/html"));
  }

  @Test
  void otherAddressesAreNoPages() {
    for (String address :
        List.of(
            "/nothing", "/agentsx", "/index.html/x", "/static/nothing.js", "/v1", "/v1/nothing")) {
      Answer answer = nobody.get(address);
      assertTrue(List.of(401, 404).contains(answer.status()), address + ": " + answer.status());
      assertFalse(answer.text().contains("<roost-app>"), address);
    }
    assertEquals(404, nobody.get("/nothing").status());
    assertEquals("not_found", nobody.get("/nothing").get("code"));
    assertTrue(nobody.post("/agents", "{}").status() >= 400);
  }

  @Test
  void whatIsThereForProgramsStaysWhatItIs() {
    assertEquals(401, nobody.get("/v1/agents").status());
    assertTrue(nobody.get("/openapi").text().contains("openapi: 3.1"));
    assertEquals("UP", nobody.get("/q/health/live").get("status"));
    Answer moved = nobody.get("/docs");
    assertEquals(302, moved.status());
    assertEquals("/docs/", moved.header("Location"));
  }

  /** The policy of the dashboard would keep its inline script from running. */
  @Test
  void theInterfaceOfTheApiIsShownByItsOwnPage() {
    Answer page = nobody.get("/docs/");
    assertEquals(200, page.status());
    assertNull(page.header("Content-Security-Policy"));
    List<String> files = files(page.text(), "(?:src|href)=\"([^\":]+\\.(?:js|css))\"");
    assertFalse(files.isEmpty(), page.text());
    for (String file : files) {
      assertEquals(200, nobody.get(file.startsWith("/") ? file : "/docs/" + file).status(), file);
    }
  }

  @Test
  void filesHaveTheirContentInTheirNameAndAreCompressed() {
    List<String> files = files(nobody.get("/").text(), "(?:src|href)=\"(/static/bundle/[^\"]+)\"");
    assertEquals(2, files.size(), files::toString);
    for (String file : files) {
      Answer answer = nobody.get(file, "Accept-Encoding", "gzip");
      assertEquals(200, answer.status(), file);
      assertTrue(file.matches(".*-[0-9A-Z]{8}\\.(js|css)"), file);
      assertEquals("gzip", answer.header("Content-Encoding"), file);
      int plain = nobody.get(file, "Accept-Encoding", "identity").http().body().length;
      assertTrue(answer.http().body().length < plain / 2, file + " of " + plain + " bytes");
    }
  }

  private static List<String> files(String document, String pattern) {
    return Pattern.compile(pattern).matcher(document).results().map(file -> file.group(1)).toList();
  }
}
