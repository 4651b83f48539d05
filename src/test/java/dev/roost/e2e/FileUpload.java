package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** Sends files in parts, as clients do. */
final class FileUpload {
  static final int PART_BYTES = 4 << 20;

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private FileUpload() {}

  /** Returns the file's identifier. */
  static String send(RoostProcess roost, String name, byte[] bytes)
      throws IOException, InterruptedException {
    Client client = roost.client();
    String id =
        client
            .post("/v1/files", "{\"name\": \"%s\"}".formatted(name))
            .expect(201)
            .json()
            .path("id")
            .asText();
    for (int part = 0; part * PART_BYTES < bytes.length; part++) {
      int begin = part * PART_BYTES;
      byte[] piece = Arrays.copyOfRange(bytes, begin, Math.min(bytes.length, begin + PART_BYTES));
      HttpResponse<String> answer =
          HTTP.send(
              request(roost, "/v1/files/" + id + "/parts/" + part)
                  .PUT(BodyPublishers.ofByteArray(piece))
                  .build(),
              BodyHandlers.ofString());
      assertEquals(200, answer.statusCode(), answer.body());
    }
    String whole =
        "{\"size_bytes\": %d, \"sha256\": \"%s\"}".formatted(bytes.length, digest(bytes));
    client.post("/v1/files/" + id + "/complete", whole).expect(200);
    return id;
  }

  static HttpRequest.Builder request(RoostProcess roost, String path) {
    return HttpRequest.newBuilder(URI.create(roost.url() + path))
        .header("Authorization", "Bearer " + roost.key());
  }

  /** SHA-256, hexadecimal. */
  static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
