package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.config.Network;
import dev.roost.e2e.TestCertificates;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemTrustOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against real sockets, with receivers that behave as none should. */
class WebhookSenderTest {
  private static final Vertx VERTX = Vertx.vertx();
  private static final byte[] BODY = "{\"x\":\"ä\"}".getBytes(StandardCharsets.UTF_8);

  /** For those who hang. They are asked at the same time, since each of them takes that long. */
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final Duration LONG = Duration.ofSeconds(30);

  private final Receiver receiver = new Receiver();
  private final List<WebhookSender> senders = new ArrayList<>();

  @AfterEach
  void close() {
    receiver.close();
    senders.forEach(WebhookSender::stop);
  }

  @AfterAll
  static void end() {
    VERTX.close();
  }

  @Test
  void aRequestArrivesAsItIsMeant() {
    EndpointResponse answer = send(loopbackAllowed(LONG), receiver.url() + "?a=b%20c");
    assertTrue(answer.succeeded(), answer.toString());
    assertEquals(204, answer.status());
    Receiver.Request request = receiver.requests().get(0);
    assertEquals("POST /hook?a=b%20c HTTP/1.1", request.line());
    assertEquals("127.0.0.1:" + receiver.port(), request.header("host"));
    assertEquals("here", request.header("x-test"));
    assertEquals("close", request.header("connection"));
    assertEquals(new String(BODY, StandardCharsets.UTF_8), request.text());
    Await.until("the connection is closed", () -> receiver.open() == 0);
  }

  @Test
  void theNameOfTheUrlIsReportedAndTheAddressThatWasJudgedIsUsed() throws UnknownHostException {
    WebhookSender sender = sender(LONG, host -> loopback(), "127.0.0.0/8");
    EndpointResponse answer = send(sender, "http://hooks.example.org:" + receiver.port() + "/x");
    assertTrue(answer.succeeded(), answer.toString());
    assertEquals("hooks.example.org:" + receiver.port(), receiver.requests().get(0).header("host"));
  }

  @Test
  void byDefaultNothingPrivateIsConnectedTo() throws UnknownHostException {
    WebhookSender sender = sender(LONG, host -> List.of(InetAddress.getAllByName(host)));
    for (String host :
        List.of("127.0.0.1", "localhost", "localhost.", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0")) {
      EndpointResponse answer = send(sender, "http://" + host + ":" + receiver.port() + "/");
      assertFalse(answer.succeeded());
      assertNull(answer.status());
      assertTrue(answer.message().contains("roost.webhooks.allowed-networks"), answer.message());
    }
    for (String url : List.of("http://2130706433", "http://0x7f.1", "http://x@127.0.0.1")) {
      assertFalse(send(sender, url + ":" + receiver.port() + "/").succeeded());
    }
    assertEquals(0, receiver.connections());
  }

  @Test
  void aNameThatLeadsElsewhereTheSecondTimeIsJudgedEachTime() throws UnknownHostException {
    AtomicInteger asked = new AtomicInteger();
    // Nobody listens at the first address, which is allowed; the second is not.
    List<InetAddress> harmless = addresses("127.0.0.2");
    WebhookSender sender =
        sender(LONG, host -> asked.getAndIncrement() == 0 ? harmless : loopback(), "127.0.0.2/32");
    String url = "http://rebinding.example.org:" + receiver.port() + "/";
    EndpointResponse first = send(sender, url);
    assertTrue(first.message().contains("127.0.0.2"), first.message());
    EndpointResponse second = send(sender, url);
    assertTrue(second.message().contains("127.0.0.1 is not a public address"), second.message());
    assertEquals(2, asked.get());
    assertEquals(0, receiver.connections());
  }

  @Test
  void ofSeveralAddressesOnlyThoseThatAreAllowedAreTriedOneAfterTheOther()
      throws UnknownHostException {
    try (Receiver other = new Receiver()) {
      // Nobody listens at 127.0.0.2, which is allowed; 127.0.0.1 is the last.
      List<InetAddress> addresses = addresses("::1", "127.0.0.2", "127.0.0.1");
      WebhookSender all = sender(LONG, host -> addresses, "127.0.0.0/8");
      assertTrue(send(all, "http://a.example.org:" + other.port() + "/").succeeded());
      WebhookSender one = sender(LONG, host -> addresses, "127.0.0.2/32");
      EndpointResponse refused = send(one, "http://a.example.org:" + other.port() + "/");
      assertTrue(refused.message().contains("127.0.0.2"), refused.message());
      assertTrue(refused.message().contains("refuses connections"), refused.message());
      assertEquals(1, other.connections());
    }
  }

  @Test
  void redirectsAreNotFollowed() {
    try (Receiver elsewhere = new Receiver()) {
      for (int status : new int[] {301, 302, 303, 307, 308}) {
        for (String location : List.of(elsewhere.url(), "http://169.254.169.254/", "/other")) {
          receiver.behave(Receiver.answer(status, "Location: " + location + "\r\n", ""));
          EndpointResponse answer = send(loopbackAllowed(LONG), receiver.url());
          assertFalse(answer.succeeded());
          assertEquals(status, answer.status());
          assertTrue(answer.message().contains("never followed"), answer.message());
        }
      }
      assertEquals(15, receiver.connections());
      assertEquals(0, elsewhere.connections());
    }
  }

  @Test
  void whoeverHangsIsGivenUpWhereverThatIs() throws IOException {
    send(
        loopbackAllowed(LONG),
        receiver.url()); // The first one loads classes, for seconds at times.
    Receiver bytes = new Receiver();
    Receiver body = new Receiver();
    // Nobody takes the connection that the system has accepted.
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
        bytes;
        body) {
      receiver.behave(Receiver.hang());
      bytes.behave(
          (request, socket) -> {
            Receiver.write(socket, "HTTP/1.1 200 OK\r\nX-Slow: ");
            dribble(socket);
          });
      body.behave(
          (request, socket) -> {
            Receiver.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            dribble(socket);
          });
      WebhookSender sender = loopbackAllowed(TIMEOUT);
      long begun = System.nanoTime();
      var handshake = later(sender, "https://127.0.0.1:" + silent.getLocalPort() + "/");
      var never = later(sender, receiver.url());
      var byteByByte = later(sender, bytes.url());
      var bodyByteByByte = later(sender, body.url());
      assertLate(handshake, "could not connect", null);
      assertTrue(System.nanoTime() - begun >= TIMEOUT.toNanos());
      assertLate(never, "did not respond", null);
      assertLate(byteByByte, "did not respond", null);
      assertLate(bodyByteByByte, "began to respond (200)", 200);
      Await.until("the connection is closed", () -> receiver.open() == 0);
    }
  }

  private static void dribble(Socket socket) throws IOException, InterruptedException {
    while (true) {
      Receiver.write(socket, "x");
      new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS);
    }
  }

  @Test
  void ofAnAnswerWithoutEndLittleIsRead() {
    AtomicInteger sent = new AtomicInteger();
    receiver.behave(
        (request, socket) -> {
          Receiver.write(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          while (true) {
            Receiver.write(socket, "400\r\n" + "x".repeat(1_024) + "\r\n");
            sent.addAndGet(1_024);
          }
        });
    // Its time is not over by far when the answer has been read.
    EndpointResponse answer = send(loopbackAllowed(Duration.ofMinutes(10)), receiver.url());
    assertEquals(200, answer.status());
    assertTrue(answer.succeeded());
    Await.until("the connection is broken", () -> receiver.open() == 0);
    assertTrue(sent.get() < 16 << 20, sent + " bytes were taken");
  }

  @Test
  void headersWithoutEndAreGivenUp() {
    receiver.behave(
        (request, socket) -> {
          Receiver.write(socket, "HTTP/1.1 200 OK\r\n");
          for (int i = 0; ; i++) {
            Receiver.write(socket, "X-" + i + ": " + "x".repeat(100) + "\r\n");
          }
        });
    EndpointResponse answer = send(loopbackAllowed(LONG), receiver.url());
    assertFalse(answer.succeeded());
    Await.until("the connection is broken", () -> receiver.open() == 0);
  }

  @Test
  void aClosedOrGarbledConnectionIsReported() {
    receiver.behave((request, socket) -> {});
    assertMessage("closed the connection without a response");
    receiver.behave((request, socket) -> socket.setSoLinger(true, 0));
    assertMessage("reset the connection");
    receiver.behave((request, socket) -> Receiver.write(socket, "SSH-2.0-OpenSSH_9\r\n\r\n"));
    assertMessage("receiver");
    receiver.behave(
        (request, socket) ->
            Receiver.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"));
    assertMessage("within the response (200)");
  }

  @Test
  void whereNobodyListensIsReported() {
    receiver.close();
    EndpointResponse answer = send(loopbackAllowed(LONG), receiver.url());
    assertEquals("127.0.0.1:" + receiver.port() + " refuses connections", answer.message());
  }

  @Test
  void aNameThatNobodyKnowsIsReported() {
    WebhookSender sender =
        sender(
            LONG,
            host -> {
              throw new UnknownHostException(host);
            });
    EndpointResponse answer = send(sender, "http://nowhere.example.org/");
    assertEquals("the name \"nowhere.example.org\" has no address", answer.message());
  }

  @Test
  void aResolverThatHangsHoldsOneThreadForAName() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    CountDownLatch never = new CountDownLatch(1);
    WebhookSender sender =
        sender(
            Duration.ofMillis(300),
            host -> {
              asked.incrementAndGet();
              try {
                never.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return List.of();
            });
    List<CompletableFuture<EndpointResponse>> answers =
        Stream.generate(() -> later(sender, "http://slow.example.org/").toCompletableFuture())
            .limit(20)
            .toList();
    for (CompletableFuture<EndpointResponse> answer : answers) {
      assertTrue(answer.get(60, TimeUnit.SECONDS).late());
    }
    assertEquals(1, asked.get());
  }

  @Test
  void certificatesAreChecked() throws UnknownHostException {
    TestCertificates certificates = TestCertificates.ofName("hooks.example.org");
    PemTrustOptions trust =
        new PemTrustOptions().addCertValue(Buffer.buffer(certificates.authority()));
    try (Receiver secure = new Receiver(certificates.context().getServerSocketFactory())) {
      List<Network> allowed = List.of(Network.of("127.0.0.0/8"));
      WebhookSender trusting =
          new WebhookSender(VERTX, host -> loopback(), new Addresses(allowed), LONG, trust);
      WebhookSender usual =
          new WebhookSender(VERTX, host -> loopback(), new Addresses(allowed), LONG, null);
      senders.addAll(List.of(trusting, usual));
      String end = ":" + secure.port() + "/";

      EndpointResponse right = send(trusting, "https://hooks.example.org" + end);
      assertTrue(right.succeeded(), right.toString());
      EndpointResponse finalDot = send(trusting, "https://hooks.example.org." + end);
      assertTrue(finalDot.succeeded(), finalDot.toString());
      assertEquals(2, secure.requests().size());

      EndpointResponse otherName = send(trusting, "https://other.example.org" + end);
      assertTrue(otherName.message().startsWith("TLS with 127.0.0.1"), otherName.message());
      assertTrue(otherName.message().contains("other.example.org"), otherName.message());
      EndpointResponse address = send(trusting, "https://127.0.0.1" + end);
      assertTrue(address.message().startsWith("TLS with"), address.message());
      EndpointResponse unknown = send(usual, "https://hooks.example.org" + end);
      assertTrue(unknown.message().startsWith("TLS with"), unknown.message());
      assertEquals(2, secure.requests().size());
    }
  }

  private static void assertLate(
      CompletionStage<EndpointResponse> sent, String message, Integer status) {
    EndpointResponse answer = sent.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
    assertTrue(answer.late(), answer.toString());
    assertEquals(status, answer.status());
    assertTrue(answer.message().contains(message), answer.message());
    assertTrue(answer.message().endsWith("within 5 s"), answer.message());
  }

  private void assertMessage(String part) {
    EndpointResponse answer = send(loopbackAllowed(LONG), receiver.url());
    assertFalse(answer.succeeded());
    assertTrue(answer.message().contains(part), answer.message());
  }

  private WebhookSender loopbackAllowed(Duration timeout) {
    return sender(timeout, host -> loopback(), "127.0.0.0/8");
  }

  private WebhookSender sender(Duration timeout, Resolver resolver, String... allowed) {
    List<Network> networks = Stream.of(allowed).map(Network::of).toList();
    WebhookSender sender =
        new WebhookSender(VERTX, resolver, new Addresses(networks), timeout, null);
    senders.add(sender);
    return sender;
  }

  private static CompletionStage<EndpointResponse> later(WebhookSender sender, String url) {
    return sender.send(new WebhookSender.Message(url, Map.of("X-Test", "here"), BODY));
  }

  private static EndpointResponse send(WebhookSender sender, String url) {
    return later(sender, url).toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static List<InetAddress> loopback() throws UnknownHostException {
    return addresses("127.0.0.1");
  }

  private static List<InetAddress> addresses(String... texts) throws UnknownHostException {
    List<InetAddress> addresses = new ArrayList<>();
    for (String text : texts) {
      addresses.add(InetAddress.getByName(text));
    }
    return addresses;
  }
}
