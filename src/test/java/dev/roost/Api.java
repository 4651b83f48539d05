package dev.roost;

import dev.roost.api.ApiKey;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.restassured.RestAssured;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Calls the API as a client does, with paths and bodies exactly as they are given. */
public final class Api {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private static Contract contract;

  private final String key;

  private Api(String key) {
    this.key = key;
  }

  /** With a new key of that role. */
  public static Api as(Role role) {
    return withKey(
        QuarkusTransaction.requiringNew()
            .call(() -> ApiKey.make("test", role, Instant.now()).text()));
  }

  /**
   * @param key or null: without
   */
  public static Api withKey(String key) {
    return new Api(key);
  }

  public String key() {
    return key;
  }

  public record Answer(HttpResponse<byte[]> http) {
    public int status() {
      return http.statusCode();
    }

    public String text() {
      return new String(http.body(), StandardCharsets.UTF_8);
    }

    /**
     * The value at a path of the JSON body: {@code data[0].name}; {@code data.name} are the names
     * of all of a list, and the empty path is that of the whole body. Null: there is none.
     */
    @SuppressWarnings("unchecked") // Whoever asks knows what is there.
    public <T> T get(String path) {
      return (T) JsonValues.at(http.body(), path);
    }

    public String header(String name) {
      return http.headers().firstValue(name).orElse(null);
    }
  }

  public Answer get(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  public Answer post(String path, String json, String... headers) {
    return send("POST", path, json, headers);
  }

  public Answer put(String path, String json, String... headers) {
    return send("PUT", path, json, headers);
  }

  public Answer patch(String path, String json, String... headers) {
    return send("PATCH", path, json, headers);
  }

  public Answer delete(String path, String... headers) {
    return send("DELETE", path, null, headers);
  }

  /**
   * @param json or null: no body
   * @param headers names and values in turn
   */
  public Answer send(String method, String path, String json, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + RestAssured.port + path))
            .method(
                method,
                json == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json));
    if (key != null) {
      request.setHeader("Authorization", "Bearer " + key);
    }
    if (json != null) {
      request.setHeader("Content-Type", "application/json");
    }
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    Answer answer = new Answer(answered(request.build()));
    contract().check(method, path, answer.status(), answer.header("Content-Type"), answer.text());
    return answer;
  }

  /** Of the server under test, which is the same for all tests of a run. */
  private static synchronized Contract contract() {
    if (contract == null) {
      URI document = URI.create("http://localhost:" + RestAssured.port + "/openapi?format=json");
      HttpResponse<byte[]> answer = answered(HttpRequest.newBuilder(document).build());
      contract = new Contract(new String(answer.body(), StandardCharsets.UTF_8));
    }
    return contract;
  }

  private static HttpResponse<byte[]> answered(HttpRequest request) {
    try {
      return CLIENT.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
