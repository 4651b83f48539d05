package dev.roost.api;

import io.vertx.ext.web.RoutingContext;

/**
 * The body of a request, received before the resource method runs. It counts against the memory for
 * bodies until {@link #release}, or else until the answer has been sent.
 *
 * @param bytes nobody changes them
 * @param reservation ends the counting; more than once is harmless
 */
public record ReceivedBody(byte[] bytes, Runnable reservation) {
  private static final String KEY = ReceivedBody.class.getName();
  private static final byte[] NOTHING = {};

  public void attachTo(RoutingContext context) {
    context.put(KEY, this);
  }

  /** The bytes of the request's body; none where there is no body. */
  static byte[] bytesOf(RoutingContext context) {
    ReceivedBody body = context.get(KEY);
    return body == null ? NOTHING : body.bytes;
  }

  /** Of a request that is answered later and doesn't need its body meanwhile. */
  public static void release(RoutingContext context) {
    ReceivedBody body = context.remove(KEY);
    if (body != null) {
      body.reservation.run();
    }
  }
}
