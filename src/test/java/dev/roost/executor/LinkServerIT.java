package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.ChangedSettings;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With a port of its own, the executor link is there, and nothing else is. */
@QuarkusTest
@TestProfile(ChangedSettings.class)
@WithTestResource(TestDatabase.class)
class LinkServerIT {
  private static final String POLL = "/internal/v1/executors/executor_1/poll";

  @Inject ExecutorTokens tokens;

  @ConfigProperty(name = "roost.internal-port")
  int linkPort;

  @Test
  void theLinkIsServedOnItsPortOnly() {
    String token = tokens.make("executor_1");
    assertEquals(410, status(linkPort, "POST", POLL, token)); // there is no such executor: stop
    assertEquals(401, status(linkPort, "POST", POLL, "nonsense"));
    assertEquals(404, status(RestAssured.port, "POST", POLL, token));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/runtime",
        "/",
        "/q/health/ready",
        "/openapi",
        "/docs",
        "/internal",
        "/internalv1/runtime",
        "/internal/../v1/runtime",
        "/internal/%2e%2e/v1/runtime",
        "/internal/./../v1/runtime",
        "/internal/..%2fv1/runtime",
        "//v1/runtime",
        "/internal//../../v1/runtime",
        "/internal/..;/v1/runtime",
        "/internal/..;x/v1/runtime"
      })
  void theLinksPortServesNothingElse(String path) {
    String key = Api.as(Role.WRITE).key();
    assertEquals(404, status(linkPort, "GET", path, key));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        POLL,
        "/v1/.." + POLL,
        "/v1/%2e%2e" + POLL,
        "/./" + "internal/v1/executors/executor_1/poll",
        "/%69nternal/v1/executors/executor_1/poll",
        "/" + POLL,
        "/internal;x/v1/executors/executor_1/poll",
        "/internal;x=1;y/v1/executors/executor_1/poll",
        "/;x/internal/v1/executors/executor_1/poll",
        ";x" + POLL,
        "/internal/v1;x/executors/executor_1/poll"
      })
  void theMainPortServesNoLink(String path) {
    assertEquals(404, status(RestAssured.port, "POST", path, tokens.make("executor_1")));
  }

  @Test
  void theApiIsWhereItWas() {
    assertEquals(200, Api.as(Role.READ).get("/v1/runtime").status());
  }

  /** The path goes over the wire as it stands here. */
  private static int status(int port, String method, String path, String bearer) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String request =
          """
          %s %s HTTP/1.1
          Host: localhost
          Authorization: Bearer %s
          Content-Type: application/json
          Content-Length: 15
          Connection: close

          {"protocol": 1}"""
              .formatted(method, path, bearer);
      socket
          .getOutputStream()
          .write(request.replace("\n", "\r\n").getBytes(StandardCharsets.US_ASCII));
      String answer =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      assertTrue(answer.startsWith("HTTP/1.1 "), answer);
      return Integer.parseInt(answer.substring(9, 12));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
