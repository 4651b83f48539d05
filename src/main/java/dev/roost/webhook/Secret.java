package dev.roost.webhook;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;

/** A signing secret: {@code whsec_} and base64 of 24 to 64 bytes, as in Standard Webhooks. */
public final class Secret {
  private static final String PREFIX = "whsec_";
  private static final int BYTES = 32;
  private static final int LEAST_BYTES = 24;
  private static final int MOST_BYTES = 64;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Secret() {}

  public static String make() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return PREFIX + Base64.getEncoder().encodeToString(bytes);
  }

  /** The error in a user's secret. The message doesn't contain the secret. */
  public static Optional<String> mistake(String text) {
    if (!text.startsWith(PREFIX)) {
      return Optional.of("A secret must begin with " + PREFIX + ".");
    }
    try {
      byte[] key = key(text);
      if (key.length < LEAST_BYTES || key.length > MOST_BYTES) {
        return Optional.of(
            "A secret must have %d to %d bytes; this one has %d."
                .formatted(LEAST_BYTES, MOST_BYTES, key.length));
      }
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of("The text after " + PREFIX + " must be base64.");
    }
  }

  /**
   * @throws IllegalArgumentException the text after the prefix is not base64
   */
  public static byte[] key(String secret) {
    return Base64.getDecoder().decode(secret.substring(PREFIX.length()));
  }
}
