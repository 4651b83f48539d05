package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signing in and out, as a browser does it. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class SessionIT {
  private static final String[] OWN = {"Sec-Fetch-Site", "same-origin"};
  private static final String TOKEN = RequestFilters.PAGE_TOKEN;

  @Inject Sessions sessions;
  @Inject Authentication authentication;
  @Inject EntityManager entities;

  private final Api browser = Api.withKey(null);

  private Answer signIn(String key) {
    return browser.post("/v1/session", "{\"key\": \"" + key + "\"}");
  }

  private Answer signInBy(String token, String... headers) {
    return browser.post("/v1/session", "{\"token\": \"" + token + "\"}", headers);
  }

  /** What a browser sends back. */
  private static String cookie(Answer answer) {
    return answer.header("Set-Cookie").split(";")[0];
  }

  /** What a page of this Roost has the browser send back, and more headers. */
  private static String[] signed(Answer answer, String... more) {
    List<String> headers = new ArrayList<>(List.of(more));
    headers.addAll(List.of("Cookie", cookie(answer), TOKEN, answer.<String>get("page_token")));
    return headers.toArray(String[]::new);
  }

  /** Without the time at which it ends, which Max-Age says, too. */
  private static List<String> attributes(Answer answer) {
    return Arrays.stream(answer.header("Set-Cookie").split("; "))
        .skip(1)
        .filter(attribute -> !attribute.startsWith("Expires="))
        .sorted()
        .toList();
  }

  private static String token(Api api) {
    String url = api.post("/v1/login-links", null).get("url");
    assertTrue(url.startsWith("/login?token="), url);
    return url.substring("/login?token=".length());
  }

  private void update(String sql, String key) {
    QuarkusTransaction.requiringNew()
        .run(() -> entities.createNativeQuery(sql).setParameter("key", key).executeUpdate());
    sessions.forget();
  }

  private static String idOf(Api api) {
    return api.get("/v1/session").get("key.id");
  }

  @Test
  void aSessionIsItsKeyUntilItIsSignedOut() {
    Api api = Api.as(Role.EXECUTE);
    Answer signedIn = signIn(api.key());
    assertEquals(201, signedIn.status(), signedIn.text());
    assertEquals("no-store", signedIn.header("Cache-Control"));
    assertEquals(
        List.of("HTTPOnly", "Max-Age=1209600", "Path=/", "SameSite=Strict"), attributes(signedIn));
    assertEquals(idOf(api), signedIn.get("key.id"));
    assertEquals("execute", signedIn.get("key.role"));
    assertFalse(signedIn.text().contains(cookie(signedIn).split("=")[1]));

    String cookie = cookie(signedIn);
    String token = signedIn.get("page_token");
    String[] signed = signed(signedIn);
    Answer read = browser.get("/v1/session", signed);
    assertEquals(200, read.status());
    assertNull(read.get("page_token"));
    for (String field : List.of("key", "created_at", "expires_at")) {
      assertEquals((Object) signedIn.get(field), read.get(field));
    }
    assertEquals(
        200, browser.get("/v1/agents", "Cookie", "other=1; " + cookie, TOKEN, token).status());
    assertEquals(403, browser.get("/v1/keys", signed).status());

    Answer out = browser.delete("/v1/session", signed(signedIn, OWN));
    assertEquals(204, out.status());
    assertEquals(cookie.split("=")[0] + "=", cookie(out));
    assertTrue(attributes(out).contains("Max-Age=0"), out.header("Set-Cookie"));
    assertEquals(401, browser.get("/v1/agents", signed).status());
    assertEquals(401, browser.get("/v1/session").status());
    assertEquals(204, browser.delete("/v1/session", signed(signedIn, OWN)).status());
    assertEquals(204, browser.delete("/v1/session").status());
  }

  /** Browsers send the cookie to other programs, too, that listen on other ports of the host. */
  @Test
  void aCookieIsOfNoUseWithoutItsPageToken() {
    Api api = Api.as(Role.WRITE);
    Answer signedIn = signIn(api.key());
    String cookie = cookie(signedIn);
    String token = signedIn.get("page_token");
    assertTrue(token.matches("\\p{XDigit}{64}"), token);
    String others = signIn(api.key()).get("page_token");
    assertNotEquals(others, token);
    for (String wrong : List.of("", "nonsense", others, cookie.split("=")[1], token + "0")) {
      Answer answer = browser.get("/v1/agents", "Cookie", cookie, TOKEN, wrong);
      assertEquals(401, answer.status(), wrong);
    }
    Answer without = browser.get("/v1/agents", "Cookie", cookie);
    assertEquals(401, without.status());
    assertTrue(without.<String>get("detail").contains(TOKEN), without.text());
    assertEquals(401, browser.get("/v1/agents", TOKEN, token).status());
    String body = "{\"name\": \"x\", \"role\": \"read\"}";
    assertEquals(401, browser.post("/v1/keys", body, "Cookie", cookie, OWN[0], OWN[1]).status());

    browser.delete("/v1/session", "Cookie", cookie, OWN[0], OWN[1]);
    browser.delete("/v1/session", "Cookie", cookie, TOKEN, others, OWN[0], OWN[1]);
    assertEquals(200, browser.get("/v1/agents", signed(signedIn)).status(), "nobody signed it out");
    Answer wrongWhileRemembered = browser.get("/v1/agents", "Cookie", cookie, TOKEN, others);
    assertEquals(401, wrongWhileRemembered.status());
  }

  /** It was begun by a version that knew no page tokens. */
  @Test
  void aSessionWithoutAPageTokenSignsNobodyIn() {
    Api api = Api.as(Role.READ);
    Answer signedIn = signIn(api.key());
    update("update login_session set page_token_sha256 = null where key_id = :key", idOf(api));
    assertEquals(401, browser.get("/v1/agents", signed(signedIn)).status());
    assertEquals(401, browser.get("/v1/agents", "Cookie", cookie(signedIn), TOKEN, "").status());
  }

  @Test
  void aKeyAloneIsNoSessionThatEnds() {
    Answer answer = Api.as(Role.READ).get("/v1/session");
    assertEquals("read", answer.get("key.role"));
    assertNull(answer.get("expires_at"));
    assertTrue(answer.text().contains("\"expires_at\":null"));
    assertNull(answer.header("Set-Cookie"));
  }

  @Test
  void whoeverSendsBothIsTakenForTheKey() {
    String[] signed = signed(signIn(Api.as(Role.READ).key()));
    Api writer = Api.as(Role.WRITE);
    assertEquals("write", writer.get("/v1/session", signed).get("key.role"));
    assertEquals(
        201, writer.post("/v1/keys", "{\"name\": \"x\", \"role\": \"read\"}", signed).status());
    assertEquals(401, Api.withKey("roost_x_y").get("/v1/session", signed).status());
  }

  @Test
  void aWrongKeyGetsNoSessionAndLearnsNothing() {
    String right = Api.as(Role.WRITE).key();
    String wrongSecret = right.substring(0, right.length() - 1) + (right.endsWith("0") ? "1" : "0");
    Answer wrong = signIn(wrongSecret);
    Answer unknown = signIn("roost_unknown_" + "0".repeat(64));
    for (Answer answer : List.of(wrong, unknown)) {
      assertEquals(401, answer.status());
      assertNull(answer.header("Set-Cookie"));
    }
    assertEquals((Object) wrong.get("detail"), unknown.get("detail"));
    assertEquals(401, signIn("nonsense").status());
    assertEquals(401, browser.get("/v1/session", "Cookie", "roost_session=nonsense").status());
  }

  /** A browser sends the cookies of a host to all its ports. */
  @Test
  void anotherRoostOnTheSameHostHasAnotherSession() {
    Answer signedIn = signIn(Api.as(Role.READ).key());
    String cookie = cookie(signedIn);
    String token = signedIn.get("page_token");
    assertTrue(cookie.matches("roost_session_\\d+=\\p{XDigit}{64}"), cookie);
    String secret = cookie.split("=")[1];
    String others = "roost_session_1=" + secret + "; roost_session=" + secret;
    assertEquals(401, browser.get("/v1/session", "Cookie", others, TOKEN, token).status());
    String both = "roost_session_1=nonsense; " + cookie;
    assertEquals(200, browser.get("/v1/session", "Cookie", both, TOKEN, token).status());
  }

  @Test
  void mistakesAreReported() {
    for (String body : List.of("{}", "{\"key\": \"a\", \"token\": \"b\"}", "{\"kee\": \"a\"}")) {
      assertEquals(422, browser.post("/v1/session", body).status(), body);
    }
    assertEquals(400, browser.post("/v1/session", "roost").status());
    assertEquals(415, browser.post("/v1/session", "key=a", "Content-Type", "text/plain").status());
  }

  @Test
  void theCookieIsForTlsAloneWhereThereIsTls() {
    String body = "{\"key\": \"" + Api.as(Role.READ).key() + "\"}";
    Answer answer = browser.post("/v1/session", body, "X-Forwarded-Proto", "https");
    assertTrue(attributes(answer).contains("Secure"), answer.header("Set-Cookie"));
    Answer plain = browser.post("/v1/session", body, "X-Forwarded-Proto", "http, https");
    assertFalse(attributes(plain).contains("Secure"), plain.header("Set-Cookie"));
  }

  @Test
  void aDeletedKeyEndsItsSessions() {
    Api api = Api.as(Role.WRITE);
    String[] signed = signed(signIn(api.key()));
    String token = token(api);
    assertEquals(200, browser.get("/v1/agents", signed).status());
    assertEquals(204, Api.as(Role.WRITE).delete("/v1/keys/" + idOf(api)).status());
    assertEquals(401, browser.get("/v1/agents", signed).status());
    assertEquals(401, signInBy(token).status());
  }

  @Test
  void aSessionEndsAtItsTime() {
    Api api = Api.as(Role.READ);
    String[] signed = signed(signIn(api.key()));
    assertEquals(200, browser.get("/v1/agents", signed).status());
    update(
        "update login_session set expires_at = now() - interval '1 second' where key_id = :key",
        idOf(api));
    Answer late = browser.get("/v1/agents", signed);
    assertEquals(401, late.status());
    assertEquals("The session has ended; sign in again.", late.get("detail"));
  }

  @Test
  void useProlongsASessionOnceADay() {
    Api api = Api.as(Role.READ);
    Answer signedIn = signIn(api.key());
    String[] signed = signed(signedIn);
    assertNull(browser.get("/v1/agents", signed).header("Set-Cookie"));
    update(
        "update login_session set expires_at = expires_at - interval '23 hours' where key_id = :key",
        idOf(api));
    assertNull(browser.get("/v1/agents", signed).header("Set-Cookie"));
    update(
        "update login_session set expires_at = expires_at - interval '1 hour' where key_id = :key",
        idOf(api));
    Answer renewed = browser.get("/v1/agents", signed);
    assertEquals(cookie(signedIn), cookie(renewed));
    assertEquals(attributes(signedIn), attributes(renewed));
    Answer next = browser.get("/v1/session", signed);
    assertNull(next.header("Set-Cookie"));
    String before = signedIn.get("expires_at");
    String after = next.get("expires_at");
    assertTrue(after.compareTo(before) > 0, before + " " + after);
  }

  /** What browsers send from where; {@code HOST} stands for this Roost's own. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      textBlock =
          """
          same-origin, -,                    true,  true
          same-origin, http://HOST,          true,  true
          -,           http://HOST,          true,  true
          -,           https://HOST,         true,  true
          -,           -,                    false, true
          same-site,   http://HOST,          false, false
          cross-site,  http://HOST,          false, false
          cross-site,  https://evil.example, false, false
          none,        -,                    false, false
          -,           https://evil.example, false, false
          -,           http://localhost,     false, false
          -,           http://localhost:1,   false, false
          -,           http://HOST.evil.com, false, false
          -,           null,                 false, false
          -,           %%%,                  false, false
          """)
  void onlyPagesOfThisRoostMayChangeThings(
      String site, String origin, boolean maySend, boolean maySignIn) {
    String key = Api.as(Role.WRITE).key();
    String[] signed = signed(signIn(key));
    List<String> headers = new ArrayList<>();
    if (site != null) {
      headers.addAll(List.of("Sec-Fetch-Site", site));
    }
    if (origin != null) {
      headers.addAll(List.of("Origin", origin.replace("HOST", "localhost:" + RestAssured.port)));
    }
    String[] alone = headers.toArray(String[]::new);
    headers.addAll(List.of(signed));
    String[] all = headers.toArray(String[]::new);
    String body = "{\"name\": \"made by a page\", \"role\": \"read\"}";

    assertEquals(maySend ? 201 : 403, browser.post("/v1/keys", body, all).status());
    assertEquals(200, browser.get("/v1/keys", all).status(), "reading is always possible");
    assertEquals(201, Api.withKey(key).post("/v1/keys", body, all).status(), "with a key");
    assertEquals(
        maySignIn ? 201 : 403,
        browser.post("/v1/session", "{\"key\": \"" + key + "\"}", alone).status());
    assertEquals(maySend ? 204 : 403, browser.delete("/v1/session", all).status());
    assertEquals(maySend ? 401 : 200, browser.get("/v1/session", signed).status());
  }

  @Test
  void aLoginLinkSignsInOnce() {
    for (Role role : Role.values()) {
      Api api = Api.as(role);
      Answer made = api.post("/v1/login-links", null);
      assertEquals(201, made.status());
      assertEquals("no-store", made.header("Cache-Control"));
      String token = made.<String>get("url").substring("/login?token=".length());
      Answer signedIn = signInBy(token);
      assertEquals(201, signedIn.status());
      assertEquals(idOf(api), signedIn.get("key.id"));
      assertEquals(200, browser.get("/v1/agents", signed(signedIn)).status());
      Answer again = signInBy(token);
      assertEquals(401, again.status());
      assertTrue(again.text().contains("Create another one"), again.text());
      assertEquals(again.<String>get("detail"), signInBy("0".repeat(64)).get("detail"));
    }
    assertEquals(401, browser.post("/v1/login-links", null).status());
  }

  @Test
  void ofManyWhoHaveALinkOneGetsIn() {
    String token = token(Api.as(Role.READ));
    List<CompletableFuture<Answer>> sent =
        IntStream.range(0, 8)
            .mapToObj(i -> CompletableFuture.supplyAsync(() -> signInBy(token)))
            .toList();
    assertEquals(1, sent.stream().filter(answer -> answer.join().status() == 201).count());
  }

  @Test
  void whoseAnswerGotLostSignsInByTheSameLinkAgainForAMinute() {
    Api api = Api.as(Role.READ);
    String token = token(api);
    String[] first = {"Idempotency-Key", "first"};
    assertEquals(422, signInBy(token, "Idempotency-Key", "x".repeat(256)).status());
    assertEquals(201, signInBy(token, first).status());
    Answer again = signInBy(token, first);
    assertEquals(201, again.status());
    assertEquals(200, browser.get("/v1/agents", signed(again)).status());
    assertEquals(401, signInBy(token, "Idempotency-Key", "second").status());
    assertEquals(401, signInBy(token).status());
    String minute =
        "update login_link set expires_at = expires_at - interval '1 minute' where key_id = :key";
    update(minute, idOf(api));
    assertEquals(401, signInBy(token, first).status());
  }

  @Test
  void anOldLinkDoesNotSignIn() {
    Api api = Api.as(Role.READ);
    String token = token(api);
    update(
        "update login_link set expires_at = now() - interval '1 second' where key_id = :key",
        idOf(api));
    assertEquals(401, signInBy(token).status());
  }

  @Test
  void noSecretIsStored() {
    Api api = Api.as(Role.READ);
    Answer signedIn = signIn(api.key());
    String secret = cookie(signedIn).split("=")[1];
    String pageToken = signedIn.get("page_token");
    String token = token(api);
    assertNotEquals(secret, token);
    for (String table : List.of("login_session", "login_link")) {
      String rows =
          QuarkusTransaction.requiringNew()
              .call(
                  () ->
                      entities
                          .createNativeQuery("select string_agg(t::text, ' ') from " + table + " t")
                          .getSingleResult()
                          .toString());
      for (String each : List.of(secret, pageToken, token)) {
        assertFalse(rows.contains(each), table);
      }
    }
  }
}
