package dev.roost.url;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Signatures were made with OpenSSL from the senders' descriptions. */
class SignatureSchemeTest {
  private static final Instant TIME = Instant.ofEpochSecond(1_700_000_000);
  private static final String BODY = "{\"greeting\": \"hello\"}";

  private record Example(String secret, Map<String, String> headers) {}

  private static Example example(SignatureScheme scheme) {
    return switch (scheme) {
      case STANDARD_WEBHOOKS ->
          new Example(
              "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
              Map.of(
                  "webhook-id", "msg_1",
                  "webhook-timestamp", "1700000000",
                  "webhook-signature", "v1,AAAA v1,jDaFSz7WFSDM8TsH1H6VwzujAhVIeWwWK9KGFlY1IUs="));
      case GITHUB ->
          new Example(
              "It's a Secret to Everybody",
              Map.of(
                  "x-hub-signature-256",
                  "sha256=e7433fbbce78030e4b72e6e706b69b18f97d281989907e07517db712cbe87eb8"));
      case STRIPE ->
          new Example(
              "whsec_0123456789abcdef",
              Map.of(
                  "stripe-signature",
                  "t=1700000000,v1=00ff,v1=6aa06877e762aaa1b132960ffc286253e085f5b09745153c6e5226b8c89c5ee1,v0=x"));
      case SLACK ->
          new Example(
              "8f742231b10e8888abcd99yyyzzz85a5",
              Map.of(
                  "x-slack-request-timestamp", "1700000000",
                  "x-slack-signature",
                      "v0=762fcaf7c1268ee9d5e4aaa4cd79e421e2dd49d88eaa5264a0e5293c344286fd"));
    };
  }

  private static Optional<String> refusal(
      SignatureScheme scheme, Example example, String body, Instant now) {
    return scheme.refusal(
        example.secret(),
        name -> example.headers().get(name.toLowerCase(Locale.ROOT)),
        body.getBytes(StandardCharsets.UTF_8),
        now);
  }

  @ParameterizedTest
  @EnumSource
  void aSignatureOfTheBodyIsAccepted(SignatureScheme scheme) {
    assertEquals(Optional.empty(), refusal(scheme, example(scheme), BODY, TIME));
    assertEquals(Optional.empty(), scheme.mistakeIn(example(scheme).secret()));
  }

  @ParameterizedTest
  @EnumSource
  void anotherBodyOrSecretIsRefused(SignatureScheme scheme) {
    Example example = example(scheme);
    assertTrue(refusal(scheme, example, BODY + " ", TIME).isPresent());
    String other =
        scheme == SignatureScheme.STANDARD_WEBHOOKS
            ? "whsec_MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
            : example.secret() + "x";
    Example forged = new Example(other, example.headers());
    assertTrue(refusal(scheme, forged, BODY, TIME).isPresent());
  }

  @ParameterizedTest
  @EnumSource
  void withoutItsHeadersARequestIsRefused(SignatureScheme scheme) {
    Example none = new Example(example(scheme).secret(), Map.of());
    assertTrue(refusal(scheme, none, BODY, TIME).isPresent());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "GITHUB")
  void timesMoreThanFiveMinutesAwayAreRefused(SignatureScheme scheme) {
    Example example = example(scheme);
    assertFalse(refusal(scheme, example, BODY, TIME.plusSeconds(300)).isPresent());
    assertTrue(refusal(scheme, example, BODY, TIME.plusSeconds(301)).isPresent());
    assertFalse(refusal(scheme, example, BODY, TIME.minusSeconds(300)).isPresent());
    assertTrue(refusal(scheme, example, BODY, TIME.minusSeconds(301)).isPresent());
  }

  /** Headers that anybody may send never cause an internal error. */
  @ParameterizedTest
  @EnumSource
  void nonsenseIsRefused(SignatureScheme scheme) {
    for (String text :
        new String[] {"", "=", ",", "v1,", "v1=zz", "v0=", "sha256=xyz", "t=,v1=00"}) {
      String secret = example(scheme).secret();
      assertTrue(
          scheme
              .refusal(secret, name -> text, BODY.getBytes(StandardCharsets.UTF_8), TIME)
              .isPresent(),
          text);
    }
  }

  @Test
  void secretsAreCheckedForTheirScheme() {
    assertTrue(SignatureScheme.STANDARD_WEBHOOKS.mistakeIn("x".repeat(32)).isPresent());
    assertTrue(SignatureScheme.GITHUB.mistakeIn("x".repeat(15)).isPresent());
    assertTrue(SignatureScheme.GITHUB.mistakeIn("x".repeat(256)).isPresent());
    assertTrue(SignatureScheme.SLACK.mistakeIn("x".repeat(16) + "\n").isPresent());
  }
}
