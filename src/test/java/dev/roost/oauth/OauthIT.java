package dev.roost.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.RestAssured;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jose4j.jwt.JwtClaims;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Access tokens authenticate at the API and at {@code /mcp}, next to API keys. */
@QuarkusTest
@TestProfile(OauthSettings.class)
@WithTestResource(TestDatabase.class)
class OauthIT {
  private static final String METADATA = "/.well-known/oauth-protected-resource";
  private static final String LIST =
      "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}";

  @ConfigProperty(name = "roost.oauth.issuer")
  String url;

  private TestIssuer issuer;

  /** The server has started without it. */
  @BeforeEach
  void start() throws Exception {
    issuer = new TestIssuer(url);
    issuer.rotate("key-" + System.nanoTime());
    String token = token("starter", "roost:read");
    Await.until(
        "the keys are known",
        Duration.ofSeconds(40),
        () -> Api.withKey(token).get("/v1/session").status() == 200);
  }

  @AfterEach
  void stop() {
    issuer.close();
  }

  private String token(String subject, String scope) {
    return issuer.token(issuer.claims(subject, OauthSettings.PUBLIC, scope));
  }

  private Api as(String scope) {
    return Api.withKey(token("alice", scope));
  }

  private static Answer mcp(Api api, String path) {
    return api.post(path, LIST, "Accept", "application/json, text/event-stream");
  }

  @Test
  void clientsFindTheIssuerFromTheAnswerWithoutAToken() {
    Answer refused = mcp(Api.withKey(null), "/mcp");
    assertEquals(401, refused.status(), refused.text());
    assertEquals(
        "Bearer realm=\"Roost\", scope=\"roost:execute\", resource_metadata=\""
            + OauthSettings.PUBLIC
            + METADATA
            + "/mcp\"",
        refused.header("WWW-Authenticate"));
    for (String path : List.of("", "/mcp", "/mcp/admin")) {
      Answer metadata = Api.withKey(null).get(METADATA + path);
      assertEquals(200, metadata.status(), metadata.text());
      assertEquals(OauthSettings.PUBLIC + path, metadata.get("resource"));
      assertEquals(List.of(url), metadata.get("authorization_servers"));
      assertEquals("*", metadata.header("Access-Control-Allow-Origin"));
    }
    assertEquals(404, Api.withKey(null).get(METADATA + "/else").status());
    String rest = Api.withKey(null).get("/v1/agents").header("WWW-Authenticate");
    assertTrue(rest.endsWith(METADATA + "\""), rest);
  }

  @Test
  void aTokenMayWhatItsRoleMay() {
    assertEquals(200, mcp(as("roost:read"), "/mcp").status());
    assertEquals(200, mcp(as("openid roost:write"), "/mcp/admin").status());
    Answer refused = mcp(as("roost:execute"), "/mcp/admin");
    assertEquals(403, refused.status(), refused.text());
    String challenge = refused.header("WWW-Authenticate");
    assertTrue(
        challenge.contains("error=\"insufficient_scope\", scope=\"roost:write\""), challenge);
    assertTrue(challenge.endsWith(METADATA + "/mcp/admin\""), challenge);
    assertEquals(403, as("openid").get("/v1/agents").status());
    assertEquals(403, as("roost:execute").post("/v1/keys", "{\"name\": \"x\"}").status());
    Answer key = as("roost:write").post("/v1/keys", "{\"name\": \"x\", \"role\": \"read\"}");
    assertEquals(201, key.status(), key.text());
    assertEquals(200, Api.withKey(key.get("key")).get("/v1/agents").status());
    assertEquals(200, Api.as(Role.READ).get("/v1/agents").status());
  }

  @Test
  void aTokenIsNoKey() {
    Answer session = as("roost:read").get("/v1/session");
    assertTrue(session.<String>get("key.id").startsWith("oauth_"), session.text());
    assertEquals("alice (OAuth)", session.get("key.name"));
    assertEquals(403, as("roost:write").post("/v1/login-links", null).status());
    String signIn = "{\"key\": \"%s\"}".formatted(token("alice", "roost:write"));
    int status = Api.withKey(null).post("/v1/session", signIn).status();
    assertTrue(status >= 400 && status < 500, Integer.toString(status));
  }

  @Test
  void invalidTokensAreRefusedWithTheReason() {
    JwtClaims expired =
        TestIssuer.expiring(issuer.claims("alice", OauthSettings.PUBLIC, "roost:read"), -90);
    Answer refused = mcp(Api.withKey(issuer.token(expired)), "/mcp");
    assertEquals(401, refused.status());
    assertTrue(refused.text().contains("The access token has expired"), refused.text());
    String challenge = refused.header("WWW-Authenticate");
    assertTrue(challenge.contains("error=\"invalid_token\""), challenge);
    String other = issuer.token(issuer.claims("alice", "https://else.example", "roost:read"));
    assertEquals(401, Api.withKey(other).get("/v1/agents").status());
    assertEquals(401, Api.withKey("nothing").get("/v1/agents").status());
    assertEquals(401, Api.withKey("a.b.c").get("/v1/agents").status());
    String mcpAudience = OauthSettings.PUBLIC + "/mcp";
    String forMcp = issuer.token(issuer.claims("alice", mcpAudience, "roost:read"));
    assertEquals(200, mcp(Api.withKey(forMcp), "/mcp").status());
  }

  @Test
  void knownKeysWorkWhileTheIssuerIsDown() {
    Api api = as("roost:read");
    issuer.answerWith(500);
    assertEquals(200, api.get("/v1/agents").status());
  }

  @Test
  void eachSubjectHasALimitOfRequests() {
    String token = token("busy", "roost:read");
    Await.until(
        "the limit",
        Duration.ofSeconds(60),
        () -> Api.withKey(token).get("/v1/session").status() == 429);
    String another = token("busy", "roost:read roost:execute");
    assertEquals(429, Api.withKey(another).get("/v1/session").status());
    assertEquals(200, as("roost:read").get("/v1/session").status());
  }

  @Test
  void aStreamEndsWhenItsTokenExpires() throws Exception {
    JwtClaims claims = issuer.claims("listener", OauthSettings.PUBLIC, "roost:read");
    String token = issuer.token(TestIssuer.expiring(claims, -57));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + RestAssured.port + "/v1/events"))
            .header("Authorization", "Bearer " + token)
            .header("Accept", "text/event-stream")
            .build();
    HttpResponse<InputStream> response =
        HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    assertEquals(200, response.statusCode());
    CompletableFuture.runAsync(
            () -> {
              try {
                response.body().readAllBytes();
              } catch (IOException e) {
                // The connection was reset, which is also an end.
              }
            })
        .get(10, TimeUnit.SECONDS);
    assertEquals(401, Api.withKey(token).get("/v1/session").status());
  }
}
