package dev.roost.oauth;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

/** Receives a body with a limit of its size and of its duration. */
final class BoundedBody implements BodySubscriber<byte[]> {
  private final int mostBytes;
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private final ByteArrayOutputStream received = new ByteArrayOutputStream();

  BoundedBody(int mostBytes, Duration timeout) {
    this.mostBytes = mostBytes;
    body.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    body.whenComplete(
        (bytes, e) -> {
          if (e != null) {
            subscription.cancel();
          }
        });
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      if (body.isDone()) {
        return;
      }
      if (buffer.remaining() > mostBytes - received.size()) {
        body.completeExceptionally(
            new IOException("the response has more than " + mostBytes + " bytes"));
        return;
      }
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      received.writeBytes(bytes);
    }
  }

  @Override
  public void onError(Throwable e) {
    body.completeExceptionally(e);
  }

  @Override
  public void onComplete() {
    body.complete(received.toByteArray());
  }
}
