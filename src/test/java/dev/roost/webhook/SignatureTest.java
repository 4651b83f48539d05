package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignatureTest {
  private static final String SECRET = "whsec_" + base64(24);
  private static final byte[] BODY = "{\"ä\":1}".getBytes(StandardCharsets.UTF_8);

  /**
   * The expected text comes from Python's hmac; the live tests ask the standardwebhooks package.
   */
  @Test
  void aSignatureIsThatOfTheStandard() {
    assertEquals(
        "v1,v6Dc6yox5YB+zTj9gOwJ7l0zBvYCFapxesC8Q+u7eoQ=",
        Signature.header(List.of(SECRET), "dlv_1", 1_700_000_000L, BODY));
  }

  @Test
  void twoSecretsSignSideBySide() {
    String other = "whsec_" + base64(64);
    String one = Signature.header(List.of(SECRET), "dlv_1", 1, BODY);
    String two = Signature.header(List.of(other), "dlv_1", 1, BODY);
    assertEquals(one + " " + two, Signature.header(List.of(SECRET, other), "dlv_1", 1, BODY));
  }

  @Test
  void everythingThatIsSignedMatters() {
    String signed = Signature.header(List.of(SECRET), "dlv_1", 1, BODY);
    assertNotEquals(signed, Signature.header(List.of(SECRET), "dlv_2", 1, BODY));
    assertNotEquals(signed, Signature.header(List.of(SECRET), "dlv_1", 2, BODY));
    assertNotEquals(signed, Signature.header(List.of(SECRET), "dlv_1", 1, new byte[0]));
  }

  @Test
  void secretsHaveTheFormOfTheStandard() {
    String secret = Secret.make();
    assertTrue(Secret.mistake(secret).isEmpty());
    assertEquals(32, Secret.key(secret).length);
    assertNotEquals(secret, Secret.make());
  }

  @Test
  void secretsThatAreGivenAreCheckedAndNotRepeated() {
    assertTrue(Secret.mistake("whsec_" + base64(24)).isEmpty());
    assertTrue(Secret.mistake("whsec_" + base64(64)).isEmpty());
    for (String bad :
        List.of(
            "",
            base64(32),
            "whsec_",
            "whsec_" + base64(23),
            "whsec_" + base64(65),
            "whsec_not base64!",
            "WHSEC_" + base64(32),
            "whsec_" + base64(32) + "=")) {
      String mistake = Secret.mistake(bad).orElseThrow();
      assertFalse(bad.length() > 6 && mistake.contains(bad.substring(6)), mistake);
    }
  }

  private static String base64(int bytes) {
    return Base64.getEncoder().encodeToString("x".repeat(bytes).getBytes(StandardCharsets.UTF_8));
  }
}
