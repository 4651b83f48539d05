package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Ports;
import dev.roost.config.RoostConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The executors' port with TLS, by the certificates of {@code src/test/resources/tls}. */
class LinkServerTest {
  private static final Path CERTIFICATES = Path.of("src/test/resources/tls");
  private static final int NO_CONTENT = 204;

  @TempDir Path directory;
  private final int port = Ports.free();
  private final Vertx vertx = Vertx.vertx();
  private LinkServer server;

  @BeforeEach
  void serve() throws Exception {
    give("old");
    server = new LinkServer(vertx, config(Map.of()));
    Router router = Router.router(vertx);
    server.routes(router);
    router
        .route("/internal/broken")
        .handler(it -> it.fail(new IllegalStateException("no wrapper")));
    router.route("/internal/*").handler(it -> it.response().setStatusCode(NO_CONTENT).end());
    server.start(null);
  }

  @AfterEach
  void end() {
    server.stop(null);
    vertx.close();
  }

  @Test
  void whoTrustsItsAuthorityIsServed() throws Exception {
    assertEquals(NO_CONTENT, status(client("old-ca.crt"), "https"));
    assertEquals(NO_CONTENT, status(client("both-ca.crt"), "https"));
  }

  @Test
  void whoTrustsAnotherOneAloneIsNot() throws Exception {
    HttpClient other = client("new-ca.crt");
    assertThrows(SSLHandshakeException.class, () -> status(other, "https"));
  }

  @Test
  void withoutTlsNobodyIsServed() {
    assertThrows(IOException.class, () -> status(HttpClient.newHttpClient(), "http"));
  }

  @Test
  void whyConnectionsFailIsLoggedOnceForAllOfThem() {
    List<String> said = new CopyOnWriteArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord entry) {
            said.add(entry.getLevel() + " " + new SimpleFormatter().formatMessage(entry));
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger(LinkServer.class.getName());
    logger.addHandler(handler);
    try {
      for (int number = 0; number < 5; number++) {
        String path = "/internal/" + number;
        assertThrows(SSLHandshakeException.class, () -> status(client("new-ca.crt"), "https"));
        HttpClient plain = HttpClient.newHttpClient();
        assertThrows(IOException.class, () -> status(plain, "http", path));
        assertEquals(500, status(client("old-ca.crt"), "https", "/internal/broken"));
      }
      assertTrue(
          said.stream().anyMatch(line -> line.contains("status 500: no wrapper")), said::toString);
      assertTrue(
          said.stream().anyMatch(line -> line.endsWith("failed: not an SSL/TLS record: …")),
          said::toString);
      assertEquals(said.size(), Set.copyOf(said).size(), said::toString);
    } catch (Exception e) {
      throw new AssertionError(e);
    } finally {
      logger.removeHandler(handler);
    }
  }

  @Test
  void aNewCertificateIsTakenWhileConnectionsGoOn() throws Exception {
    HttpClient connected = client("old-ca.crt");
    assertEquals(NO_CONTENT, status(connected, "https"));
    assertFalse(server.takeNewCertificate());
    give("new");
    assertTrue(server.takeNewCertificate());
    assertEquals(NO_CONTENT, status(connected, "https"), "an open connection");
    assertEquals(NO_CONTENT, status(client("new-ca.crt"), "https"));
    assertEquals(NO_CONTENT, status(client("both-ca.crt"), "https"));
    assertThrows(SSLHandshakeException.class, () -> status(client("old-ca.crt"), "https"));
  }

  @Test
  void whatIsNoCertificateLeavesTheOneThatWas() throws Exception {
    Files.writeString(directory.resolve("tls.crt"), "nonsense");
    assertFalse(server.takeNewCertificate());
    assertEquals(NO_CONTENT, status(client("old-ca.crt"), "https"));
    give("new");
    assertTrue(server.takeNewCertificate());
    assertEquals(NO_CONTENT, status(client("new-ca.crt"), "https"));
  }

  @Test
  void aSettingThatLacksAnotherIsNamed() {
    for (String missing : new String[] {"roost.link.key", "roost.internal-port"}) {
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () -> new LinkServer(vertx, config(Map.of(missing, ""))));
      assertTrue(refused.getMessage().contains(missing), refused.getMessage());
    }
  }

  private RoostConfig config(Map<String, String> others) {
    SmallRyeConfigBuilder builder =
        new SmallRyeConfigBuilder()
            .addDiscoveredConverters()
            .withMapping(RoostConfig.class)
            .withDefaultValue("roost.data", "/nowhere")
            .withDefaultValue("roost.internal-port", Integer.toString(port))
            .withDefaultValue("roost.link.certificate", directory.resolve("tls.crt").toString())
            .withDefaultValue("roost.link.key", directory.resolve("tls.key").toString());
    others.forEach(builder::withDefaultValue);
    return builder.build().getConfigMapping(RoostConfig.class);
  }

  private void give(String name) throws IOException {
    for (String suffix : new String[] {"crt", "key"}) {
      Files.copy(
          CERTIFICATES.resolve(name + "." + suffix),
          directory.resolve("tls." + suffix),
          StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private int status(HttpClient client, String scheme) throws IOException, InterruptedException {
    return status(client, scheme, "/internal/v1/x");
  }

  private int status(HttpClient client, String scheme, String path)
      throws IOException, InterruptedException {
    URI address = URI.create(scheme + "://127.0.0.1:" + port + path);
    return client
        .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static HttpClient client(String authorities) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream stream = Files.newInputStream(CERTIFICATES.resolve(authorities))) {
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(stream)) {
        store.setCertificateEntry(Integer.toString(store.size()), one);
      }
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(context).build();
  }
}
