package dev.roost.api;

/** The header that makes a request safe to repeat. */
public final class IdempotencyKey {
  private static final int MAX_CHARACTERS = 255;

  private IdempotencyKey() {}

  /**
   * @param key the header's value, or null
   * @throws Problem validation_failed
   */
  public static void check(String key) {
    if (key != null && (key.isBlank() || key.length() > MAX_CHARACTERS)) {
      throw Problem.invalid(
          "Idempotency-Key",
          "out_of_range",
          "Idempotency-Key must have 1 to " + MAX_CHARACTERS + " characters.");
    }
  }
}
