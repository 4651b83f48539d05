package dev.roost.webhook;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The result of an attempt.
 *
 * @param status of HTTP; null: there was no response
 * @param message why the attempt failed, for a person; null: it succeeded
 * @param late whether the attempt reached its timeout
 * @param retryAfter how long the receiver asks to wait; null: it does not
 */
public record EndpointResponse(Integer status, String message, boolean late, Duration retryAfter) {
  private static final int MOST_CHARACTERS = 200;

  /**
   * A complete response, or as much of it as is read.
   *
   * @param body its beginning
   */
  static EndpointResponse received(int status, byte[] body) {
    if (status >= 200 && status < 300) {
      return new EndpointResponse(status, null, false, null);
    }
    String hint = status >= 300 && status < 400 ? ", a redirect, which is never followed" : "";
    String text = excerpt(body);
    String said = text.isEmpty() ? "" : ": " + text;
    return new EndpointResponse(
        status, "the receiver responded with " + status + hint + said, false, null);
  }

  public static EndpointResponse failed(String message) {
    return new EndpointResponse(null, message, false, null);
  }

  /**
   * @param status null: no status has arrived
   */
  static EndpointResponse late(Integer status, String message) {
    return new EndpointResponse(status, message, true, null);
  }

  public boolean succeeded() {
    return message == null;
  }

  /** Whether the receiver permanently rejects deliveries. */
  boolean isGone() {
    return status != null && status == 410;
  }

  /**
   * @param header the header Retry-After, or null
   */
  EndpointResponse withRetryAfter(String header) {
    return new EndpointResponse(status, message, late, seconds(header));
  }

  /** RFC 9110, 10.2.3; a date counts as no header, since nobody sends one with 429. */
  private static Duration seconds(String retryAfter) {
    return retryAfter != null && retryAfter.matches("\\d{1,6}")
        ? Duration.ofSeconds(Long.parseLong(retryAfter))
        : null;
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
