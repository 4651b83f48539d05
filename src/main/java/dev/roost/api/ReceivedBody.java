package dev.roost.api;

import io.vertx.ext.web.RoutingContext;

/**
 * The body of a request, received before the resource method runs. The body counts against the
 * memory budget for bodies until {@link #release}, or until the response has been sent.
 *
 * @param bytes must not be changed
 * @param reservation releases the memory budget; repeated calls are harmless
 */
public record ReceivedBody(byte[] bytes, Runnable reservation) {
  private static final String KEY = ReceivedBody.class.getName();
  private static final byte[] NOTHING = {};

  public void attachTo(RoutingContext context) {
    context.put(KEY, this);
  }

  /** The bytes of the request's body; empty without a body. */
  static byte[] bytesOf(RoutingContext context) {
    ReceivedBody body = context.get(KEY);
    return body == null ? NOTHING : body.bytes;
  }

  /** Releases the memory budget early, for a request that waits and no longer needs its body. */
  public static void release(RoutingContext context) {
    ReceivedBody body = context.remove(KEY);
    if (body != null) {
      body.reservation.run();
    }
  }
}
