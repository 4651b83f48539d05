package dev.roost.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.roost.Ports;
import dev.roost.e2e.TestCertificates;
import io.vertx.core.Vertx;
import jakarta.mail.internet.MimeMessage;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** E-mail over real servers: plain, with TLS, and such that refuse or hang. */
class MailSenderTest {
  private static final String HOST = "127.0.0.1";

  private static final TestCertificates CERTIFICATES = new TestCertificates(HOST);

  @TempDir Path directory;

  private final Vertx vertx = Vertx.vertx();
  private GreenMail server;

  /** GreenMail reads its keys once. */
  @BeforeAll
  static void useCertificate(@TempDir Path directory) {
    Path keys = directory.resolve("keys.p12");
    String password = CERTIFICATES.write(keys);
    System.setProperty("greenmail.tls.keystore.file", keys.toString());
    System.setProperty("greenmail.tls.keystore.password", password);
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private int start(String protocol) {
    int port = Ports.free();
    server = new GreenMail(new ServerSetup(port, HOST, protocol));
    server.start();
    return port;
  }

  private SendResult send(int port, Map<String, String> others) throws Exception {
    return send(port, others, new Composer.Composed("Sübject", "the text", "<p>the html</p>", ""));
  }

  private SendResult send(int port, Map<String, String> others, Composer.Composed message)
      throws Exception {
    Map<String, String> settings = new HashMap<>(others);
    settings.put("roost.mail.host", HOST);
    settings.put("roost.mail.port", Integer.toString(port));
    settings.put("roost.mail.from", "roost@example.org");
    Channel channel =
        new Channel(
            "channel_1",
            "On-call",
            ChannelKind.EMAIL,
            List.of("a@example.org", "b@example.org"),
            null,
            List.of(),
            NotificationTypes.ALL,
            0,
            new QuietTimes(List.of(), ZoneId.of("UTC")),
            ChannelState.ACTIVE,
            Instant.EPOCH,
            Instant.EPOCH,
            null,
            null);
    return new MailSender(vertx, TestMailSettings.of(settings))
        .send(channel, "message_1", message)
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  private static String raw(MimeMessage message) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    message.writeTo(bytes);
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private Map<String, String> tls(String password) throws Exception {
    Path authority = Files.writeString(directory.resolve("ca.pem"), CERTIFICATES.authority());
    Path file = Files.writeString(directory.resolve("password"), password + "\n");
    return new HashMap<>(
        Map.of(
            "roost.mail.encryption",
            "tls",
            "roost.mail.ca",
            authority.toString(),
            "roost.mail.user",
            "roost",
            "roost.mail.password-file",
            file.toString()));
  }

  @Test
  void aMessageArrivesAsTextAndHtml() throws Exception {
    int port = start(ServerSetup.PROTOCOL_SMTP);
    assertEquals(SendResult.succeeded(), send(port, Map.of("roost.mail.encryption", "off")));
    assertTrue(server.waitForIncomingEmail(10_000, 2));
    MimeMessage message = server.getReceivedMessages()[0];
    assertEquals("Sübject", message.getSubject());
    assertEquals("<message_1@example.org>", message.getMessageID());
    assertEquals("auto-generated", message.getHeader("Auto-Submitted", null));
    String raw = raw(message);
    assertTrue(raw.contains("the text"), raw);
    assertTrue(raw.contains("<p>the html</p>"), raw);
  }

  @Test
  void noSubjectBeginsAnotherHeader() throws Exception {
    int port = start(ServerSetup.PROTOCOL_SMTP);
    Composer.Composed message =
        new Composer.Composed(
            Composer.oneLine("broken\r\nBcc: c@example.org"), "text\r\n.\r\nmore", "<p></p>", "");
    assertEquals(
        SendResult.succeeded(), send(port, Map.of("roost.mail.encryption", "off"), message));
    MimeMessage received = server.getReceivedMessages()[0];
    assertNull(received.getHeader("Bcc"));
    assertTrue(raw(received).contains("more"));
  }

  @Test
  void overTlsWithAUserAndAPasswordFromAFile() throws Exception {
    Map<String, String> settings = tls("right password");
    int port = start(ServerSetup.PROTOCOL_SMTPS);
    server.setUser("roost@example.org", "roost", "right password");
    assertEquals(SendResult.succeeded(), send(port, settings));
    assertTrue(server.waitForIncomingEmail(10_000, 2));
  }

  @Test
  void aWrongPasswordIsSaidAndNotShown() throws Exception {
    Map<String, String> settings = tls("wrong password");
    int port = start(ServerSetup.PROTOCOL_SMTPS);
    server.setUser("roost@example.org", "roost", "right password");
    SendResult result = send(port, settings);
    assertFalse(result.sent());
    assertFalse(result.permanent(), "the password can be corrected");
    assertTrue(result.error().contains("refuses the user or the password"), result.error());
    assertFalse(result.error().contains("wrong password"), result.error());
  }

  @Test
  void anUnknownCertificateIsNotTrusted() throws Exception {
    Map<String, String> settings = tls("right password");
    settings.remove("roost.mail.ca");
    int port = start(ServerSetup.PROTOCOL_SMTPS);
    SendResult result = send(port, settings);
    assertFalse(result.sent());
    assertTrue(result.error().startsWith("TLS with the mail server"), result.error());
  }

  @Test
  void withoutEncryptionNothingIsSentUnlessItIsOff() throws Exception {
    int port = start(ServerSetup.PROTOCOL_SMTP); // It has no STARTTLS.
    SendResult result = send(port, Map.of());
    assertFalse(result.sent());
    assertTrue(result.error().toUpperCase().contains("STARTTLS"), result.error());
    assertEquals(0, server.getReceivedMessages().length);
  }

  @Test
  void aServerThatIsDownIsSaid() throws Exception {
    SendResult result = send(Ports.free(), Map.of("roost.mail.encryption", "off"));
    assertFalse(result.sent());
    assertTrue(result.error().startsWith("could not connect to the mail server"), result.error());
  }

  @Test
  void aServerThatHangsHoldsNothing() throws Exception {
    try (ServerSocket hanging = new ServerSocket(0, 10, InetAddress.getByName(HOST))) {
      long begun = System.nanoTime();
      SendResult result =
          send(
              hanging.getLocalPort(),
              Map.of("roost.mail.encryption", "off", "roost.mail.timeout", "1s"));
      assertFalse(result.sent());
      assertTrue(result.error().endsWith("within 1 s"), result.error());
      assertTrue(System.nanoTime() - begun < Duration.ofSeconds(20).toNanos());
    }
  }

  @Test
  void unsafeSettingsStopTheStart() {
    Map<String, String> base =
        Map.of("roost.mail.host", HOST, "roost.mail.from", "roost@example.org");
    Map<Map<String, String>, String> mistakes =
        Map.of(
            Map.of("roost.mail.from", "Roost <roost@example.org>"), "roost.mail.from must be",
            Map.of("roost.mail.encryption", "ssl"), "roost.mail.encryption must be starttls",
            Map.of(
                    "roost.mail.encryption", "off",
                    "roost.mail.user", "a",
                    "roost.mail.password", "p"),
                "without encryption",
            Map.of("roost.mail.user", "a"), "roost.mail.user requires",
            Map.of("roost.mail.password", "a"), "require the user",
            Map.of("roost.public-url", "roost"), "roost.public-url must be a URL");
    mistakes.forEach(
        (settings, expected) -> {
          Map<String, String> all = new HashMap<>(base);
          all.putAll(settings);
          IllegalStateException mistake =
              assertThrows(IllegalStateException.class, () -> TestMailSettings.of(all));
          assertTrue(mistake.getMessage().contains(expected), mistake.getMessage());
        });
  }
}
