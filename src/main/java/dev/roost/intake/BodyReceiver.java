package dev.roost.intake;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** Puts the parts of one body together. */
final class BodyReceiver {
  private static final int FIRST_BYTES = 4 << 10;

  private final long most;
  private final CompletableFuture<byte[]> received = new CompletableFuture<>();
  private byte[] bytes;
  private int length;

  /**
   * @param declared the body's length, or -1
   * @param most how long it may be
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
      bytes = new byte[0]; // Too late, or too much: whatever else comes is let pass.
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
