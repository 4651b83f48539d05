package dev.roost.intake;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** Assembles the body from its parts. */
final class BodyReceiver {
  private static final int FIRST_BYTES = 4 << 10;

  private final long most;
  private final CompletableFuture<byte[]> received = new CompletableFuture<>();
  private byte[] bytes;
  private int length;

  /**
   * @param declared the body's length, or -1
   * @param most maximum length
   */
  BodyReceiver(int declared, long most) {
    this.bytes = new byte[declared < 0 ? FIRST_BYTES : declared];
    this.most = most;
  }

  CompletableFuture<byte[]> received() {
    return received;
  }

  void start(HttpServerRequest request) {
    request.exceptionHandler(received::completeExceptionally);
    request.handler(this::add);
    request.endHandler(
        end -> received.complete(length == bytes.length ? bytes : Arrays.copyOf(bytes, length)));
    request.resume();
  }

  private void add(Buffer part) {
    if (received.isDone()) {
      bytes = new byte[0]; // After a timeout or a too large body, further parts are ignored.
      return;
    }
    int end = length + part.length();
    if (end > most || end < 0) {
      received.completeExceptionally(Intake.tooLarge(most));
      return;
    }
    if (end > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(end, 2 * bytes.length));
    }
    part.getBytes(bytes, length);
    length = end;
  }
}
