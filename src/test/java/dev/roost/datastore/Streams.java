package dev.roost.datastore;

import dev.roost.Api;
import dev.roost.Api.Answer;
import io.restassured.RestAssured;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;

/** Requests whose bodies are bytes or streams. */
final class Streams {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private Streams() {}

  /** The body as it comes: what isn't read yet stays with the server. */
  static InputStream get(Api api, String path) {
    return send(request(api, path).GET(), BodyHandlers.ofInputStream()).body();
  }

  static Answer post(Api api, String path, byte[] lines) {
    return post(api, path, BodyPublishers.ofByteArray(lines));
  }

  static Answer post(Api api, String path, BodyPublisher lines) {
    HttpRequest.Builder request =
        request(api, path).header("Content-Type", "application/x-ndjson").POST(lines);
    return new Answer(send(request, BodyHandlers.ofByteArray()));
  }

  private static HttpRequest.Builder request(Api api, String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + RestAssured.port + path))
        .version(HttpClient.Version.HTTP_1_1)
        .header("Authorization", "Bearer " + api.key());
  }

  private static <T> HttpResponse<T> send(HttpRequest.Builder request, BodyHandler<T> handler) {
    try {
      return CLIENT.send(request.build(), handler);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
