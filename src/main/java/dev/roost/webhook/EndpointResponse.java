package dev.roost.webhook;

import java.nio.charset.StandardCharsets;

/**
 * What came of an attempt.
 *
 * @param status of HTTP; null: there was no answer
 * @param message why it did not succeed, for a person; null: it did
 * @param late whether it took all the time that there was
 */
record EndpointResponse(Integer status, String message, boolean late) {
  private static final int MOST_CHARACTERS = 200;

  /**
   * A whole answer, or as much of it as is read.
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
    return new EndpointResponse(status, "the receiver answered " + status + hint + said, false);
  }

  static EndpointResponse failed(String message) {
    return new EndpointResponse(null, message, false);
  }

  /**
   * @param status null: not even that has come
   */
  static EndpointResponse late(Integer status, String message) {
    return new EndpointResponse(status, message, true);
  }

  boolean succeeded() {
    return message == null;
  }

  /** Whether the receiver wants no more. */
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
