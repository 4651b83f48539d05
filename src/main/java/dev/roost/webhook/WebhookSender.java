package dev.roost.webhook;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.TrustOptions;
import io.vertx.core.tracing.TracingPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sends requests to untrusted receivers: they may hang, respond endlessly, redirect, or have a name
 * that resolves to an address in Roost's own network. So an attempt connects only to a checked
 * address, has a timeout, reads a limited part of the response, and blocks no thread.
 */
public class WebhookSender {
  private final Vertx vertx;
  private final HttpClient client;
  private final Lookups lookups;
  private final Addresses addresses;
  private final Duration timeout;

  /**
   * @param timeout of a whole attempt, from the look-up of the name to the end of the response
   * @param trust the trusted certificates; null: Java's defaults
   */
  WebhookSender(
      Vertx vertx, Resolver resolver, Addresses addresses, Duration timeout, TrustOptions trust) {
    this.vertx = vertx;
    this.lookups = new Lookups(resolver);
    this.addresses = addresses;
    this.timeout = timeout;
    this.client = vertx.createHttpClient(options(timeout, trust));
  }

  /**
   * A request to send.
   *
   * @param headers in addition to Host and Content-Length
   */
  public record Message(String url, Map<String, String> headers, byte[] body) {}

  /** Never fails: the response describes failures. */
  public CompletionStage<EndpointResponse> send(Message message) {
    CompletableFuture<EndpointResponse> answer = new CompletableFuture<>();
    Endpoint target;
    try {
      target = Endpoint.parse(message.url());
    } catch (Endpoint.Invalid e) {
      answer.complete(EndpointResponse.failed(e.getMessage()));
      return answer;
    }
    Attempt attempt = new Attempt(client, addresses, target, message, timeout, answer);
    vertx.getOrCreateContext().runOnContext(ready -> attempt.start(vertx, lookups));
    return answer;
  }

  void stop() {
    lookups.stop();
    client.close();
  }

  private static HttpClientOptions options(Duration timeout, TrustOptions trust) {
    int millis = Math.toIntExact(timeout.toMillis());
    HttpClientOptions options =
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_1_1)
            .setUseAlpn(false)
            .setKeepAlive(false)
            .setMaxPoolSize(Slots.ALL)
            .setVerifyHost(true)
            .setDecompressionSupported(false)
            .setConnectTimeout(millis)
            .setSslHandshakeTimeout(timeout.toSeconds() + 1)
            .setTracingPolicy(TracingPolicy.IGNORE);
    return trust == null ? options : options.setTrustOptions(trust);
  }
}
