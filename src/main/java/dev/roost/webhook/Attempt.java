package dev.roost.webhook;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** One request to a receiver. It runs in one context of Vert.x, and so on one thread. */
final class Attempt {
  /** The most bytes of a response that are read. */
  private static final int ANSWER_BYTES = 4_096;

  /** Further addresses of a name are not tried. */
  private static final int MOST_ADDRESSES = 4;

  private final HttpClient client;
  private final Addresses addresses;
  private final Endpoint target;
  private final WebhookSender.Message message;
  private final Duration timeout;
  private final CompletableFuture<EndpointResponse> answer;
  private final long end;

  /** Allowed addresses that were not tried yet. */
  private final Deque<InetAddress> left = new ArrayDeque<>();

  private final Buffer body = Buffer.buffer();
  private HttpClientRequest request;
  private Integer status;
  private String retryAfter;
  private String doing;

  Attempt(
      HttpClient client,
      Addresses addresses,
      Endpoint target,
      WebhookSender.Message message,
      Duration timeout,
      CompletableFuture<EndpointResponse> answer) {
    this.client = client;
    this.addresses = addresses;
    this.target = target;
    this.message = message;
    this.timeout = timeout;
    this.answer = answer;
    this.end = System.nanoTime() + timeout.toNanos();
  }

  /** Must run in the attempt's context. */
  void start(Vertx vertx, Lookups lookups) {
    long timer = vertx.setTimer(timeout.toMillis(), id -> expire());
    answer.whenComplete((result, failure) -> vertx.cancelTimer(timer));
    if (target.address().isPresent()) {
      connectTo(List.of(target.address().get()));
      return;
    }
    doing = "the name \"" + target.host() + "\" was not resolved";
    Context context = vertx.getOrCreateContext();
    lookups
        .of(target.host())
        .whenComplete(
            (found, failure) ->
                context.runOnContext(
                    ready -> {
                      if (answer.isDone()) {
                        return;
                      }
                      if (failure != null) {
                        finish(EndpointResponse.failed(Failures.ofLookup(target.host(), failure)));
                      } else {
                        connectTo(found);
                      }
                    }));
  }

  private void connectTo(List<InetAddress> found) {
    String refusal = "the name \"" + target.host() + "\" has no address";
    for (InetAddress address : found) {
      String why = addresses.refusal(address).orElse(null);
      if (why != null) {
        refusal = target.address().isPresent() ? why : "\"" + target.host() + "\" is " + why;
      } else if (left.size() < MOST_ADDRESSES) {
        left.add(address);
      }
    }
    if (left.isEmpty()) {
      finish(EndpointResponse.failed(refusal));
    } else {
      connect();
    }
  }

  /** Connects to the next address, which was checked before; the name is not resolved again. */
  private void connect() {
    InetAddress address = left.remove();
    String where = Failures.address(address, target.port());
    doing = "could not connect to " + where;
    // Divides the remaining time among the addresses; for the last one, the timer applies.
    long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
    long share = left.isEmpty() ? 2 * timeout.toMillis() : millis / (left.size() + 1);
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setServer(
                SocketAddress.inetSocketAddress(new InetSocketAddress(address, target.port())))
            .setHost(target.host())
            .setPort(target.port())
            .setSsl(target.secure())
            .setURI(target.uri())
            .setFollowRedirects(false)
            .setConnectTimeout(Math.max(1, share))
            .putHeader("Host", target.authority());
    message.headers().forEach(options::putHeader);
    client
        .request(options)
        .onSuccess(this::send)
        .onFailure(
            failure -> {
              if (answer.isDone()) {
                return;
              }
              if (left.isEmpty() || Failures.isOfTls(failure)) {
                finish(EndpointResponse.failed(Failures.ofConnection(where, failure)));
              } else {
                connect();
              }
            });
  }

  private void send(HttpClientRequest connected) {
    request = connected;
    if (answer.isDone()) {
      hangUp();
      return;
    }
    doing = "the receiver did not respond";
    request.exceptionHandler(this::fail);
    request.connection().exceptionHandler(this::fail); // Without a handler, Vert.x logs an error.
    request.send(Buffer.buffer(message.body())).onSuccess(this::receive).onFailure(this::fail);
  }

  private void receive(HttpClientResponse response) {
    status = response.statusCode();
    retryAfter = response.getHeader("Retry-After");
    doing = "the receiver began to respond (" + status + ") but did not complete the response";
    response.exceptionHandler(this::fail);
    response.handler(
        part -> {
          body.appendBuffer(part);
          if (body.length() >= ANSWER_BYTES) {
            finish(received());
          }
        });
    response.endHandler(ended -> finish(received()));
  }

  private EndpointResponse received() {
    return EndpointResponse.received(
            status, body.getBytes(0, Math.min(body.length(), ANSWER_BYTES)))
        .withRetryAfter(retryAfter);
  }

  private void fail(Throwable failure) {
    finish(EndpointResponse.failed(Failures.ofExchange(status, failure)));
  }

  private void expire() {
    finish(EndpointResponse.late(status, doing + " within " + Failures.seconds(timeout)));
  }

  private void finish(EndpointResponse result) {
    if (answer.complete(result)) {
      hangUp();
    }
  }

  /**
   * Closes the connection. The rest of the response stays unread, so closing resets the connection.
   */
  private void hangUp() {
    if (request != null) {
      request.connection().close();
    }
  }
}
