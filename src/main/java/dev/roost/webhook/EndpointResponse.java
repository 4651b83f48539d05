package dev.roost.webhook;

import java.nio.charset.StandardCharsets;

/**
 * The result of an attempt.
 *
 * @param status of HTTP; null: there was no response
 * @param message why the attempt failed, for a person; null: it succeeded
 * @param late whether the attempt reached its timeout
 */
record EndpointResponse(Integer status, String message, boolean late) {
  private static final int MOST_CHARACTERS = 200;

  /**
   * A complete response, or as much of it as is read.
   *
   * @param body its beginning
   */
  static EndpointResponse received(int status, byte[] body) {
    if (status >= 200 && status < 300) {
      return new EndpointResponse(status, null, false);
    }
    String hint = status >= 300 && status < 400 ? ", a redirect, which is never followed" : "";
    String text = excerpt(body);
    String said = text.isEmpty() ? "" : ": " + text;
    return new EndpointResponse(
        status, "the receiver responded with " + status + hint + said, false);
  }

  static EndpointResponse failed(String message) {
    return new EndpointResponse(null, message, false);
  }

  /**
   * @param status null: no status has arrived
   */
  static EndpointResponse late(Integer status, String message) {
    return new EndpointResponse(status, message, true);
  }

  boolean succeeded() {
    return message == null;
  }

  /** Whether the receiver permanently rejects deliveries. */
  boolean isGone() {
    return status != null && status == 410;
  }

  private static String excerpt(byte[] body) {
    String line =
        new String(body, StandardCharsets.UTF_8)
            .replaceAll("[\\p{Cntrl}\\p{Space}\\uFFFD]++", " ")
            .strip();
    int end = Math.min(line.length(), MOST_CHARACTERS);
    if (end < line.length() && Character.isHighSurrogate(line.charAt(end - 1))) {
      end--;
    }
    return line.substring(0, end);
  }
}
