package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Credential;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@QuarkusTest
@WithTestResource(TestDatabase.class)
@Timeout(120)
class OpenStreamsIT {
  private static final int MOST_OF_KEY = 100;
  private static final int MOST = 500;

  @Inject OpenStreams streams;
  @Inject EntityManager entities;

  private static InputStream follow(String... headers) throws Exception {
    HttpResponse<InputStream> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(
                        URI.create("http://localhost:" + RestAssured.port + "/v1/events"))
                    .headers(headers)
                    .header("Accept", "text/event-stream")
                    .build(),
                HttpResponse.BodyHandlers.ofInputStream());
    assertEquals(200, answer.statusCode());
    assertTrue(answer.body().read() >= 0, "it has begun");
    return answer.body();
  }

  private static InputStream follow(Api api) throws Exception {
    return follow("Authorization", "Bearer " + api.key());
  }

  /** Reads to the end, however it comes. */
  private static CompletableFuture<Void> end(InputStream stream) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            stream.readAllBytes();
          } catch (IOException e) {
            // Broken off: also an end.
          }
        });
  }

  private static String idOf(Api api) {
    return api.get("/v1/session").get("key.id");
  }

  @Test
  void aKeyHasOnlySoManyStreams() throws Exception {
    Api api = Api.as(Role.READ);
    List<Runnable> open = new ArrayList<>();
    for (int i = 0; i < MOST_OF_KEY; i++) {
      open.add(streams.begin(new Credential(idOf(api), null, null), () -> {}));
    }
    Answer refused = api.get("/v1/events", "Accept", "text/event-stream");
    assertEquals(429, refused.status(), refused.text());
    assertEquals("rate_limited", refused.get("code"));
    assertEquals("5", refused.header("Retry-After"));
    assertTrue(refused.text().contains("roost.limits.streams-per-key"), refused.text());
    Api.as(Role.READ).get("/v1/events");
    follow(Api.as(Role.READ)).close();

    open.remove(0).run();
    follow(api).close();
    Await.until("the one that is gone doesn't count", () -> streamsOf(api) == MOST_OF_KEY - 1);
    open.forEach(Runnable::run);
  }

  private int streamsOf(Api api) {
    String id = idOf(api);
    List<Runnable> more = new ArrayList<>();
    try {
      while (true) {
        more.add(streams.begin(new Credential(id, null, null), () -> {}));
      }
    } catch (Problem full) {
      return MOST_OF_KEY - more.size();
    } finally {
      more.forEach(Runnable::run);
    }
  }

  @Test
  void thereAreOnlySoManyInAll() {
    List<Runnable> open = new ArrayList<>();
    try {
      Problem refused =
          assertThrows(
              Problem.class,
              () -> {
                for (int i = 0; i <= MOST; i++) {
                  open.add(streams.begin(new Credential("key_" + i % 50, null, null), () -> {}));
                }
              });
      assertEquals(ErrorCode.RATE_LIMITED, refused.code());
      assertTrue(refused.getMessage().contains("roost.limits.streams)"), refused.getMessage());
    } finally {
      open.forEach(Runnable::run);
    }
  }

  @Test
  void aStreamEndsWithItsKey() throws Exception {
    Api writer = Api.as(Role.WRITE);
    Api reader = Api.as(Role.READ);
    Api other = Api.as(Role.READ);
    CompletableFuture<Void> ended = end(follow(reader));
    InputStream stays = follow(other);
    assertEquals(204, writer.delete("/v1/keys/" + idOf(reader)).status());
    ended.get(60, TimeUnit.SECONDS);
    assertEquals(1, streamsOf(other));
    stays.close();
  }

  @Test
  void aStreamEndsWithItsSession() throws Exception {
    Api browser = Api.withKey(null);
    Answer signedIn = browser.post("/v1/session", "{\"key\": \"" + Api.as(Role.READ).key() + "\"}");
    String cookie = signedIn.header("Set-Cookie").split(";")[0];
    String[] signed = {"Cookie", cookie, "Roost-Page-Token", signedIn.get("page_token")};
    CompletableFuture<Void> ended = end(follow(signed));
    browser.delete(
        "/v1/session",
        Stream.of(new String[] {"Sec-Fetch-Site", "same-origin"}, signed)
            .flatMap(Stream::of)
            .toArray(String[]::new));
    ended.get(60, TimeUnit.SECONDS);
  }

  /** Another replica deleted it, and its message got lost. */
  @Test
  void aStreamWhoseKeyIsGoneIsFound() throws Exception {
    Api reader = Api.as(Role.READ);
    String id = idOf(reader);
    CompletableFuture<Void> ended = end(follow(reader));
    streams.check();
    assertEquals(1, streamsOf(reader));
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery("delete from api_key where id = :id")
                    .setParameter("id", id)
                    .executeUpdate());
    streams.check();
    ended.get(60, TimeUnit.SECONDS);
  }
}
