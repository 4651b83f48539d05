package dev.roost.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Ports;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.OctJwkGenerator;
import org.jose4j.jwk.OkpJwkGenerator;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.keys.HmacKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenVerifierTest {
  private static final String AUDIENCE = "https://roost.example.org";

  private final AtomicLong nanoTime = new AtomicLong();
  private String url;
  private TestIssuer issuer;
  private volatile CompletableFuture<List<JsonWebKey>> pending;
  private int asked;

  @BeforeEach
  void start() throws Exception {
    url = "http://127.0.0.1:" + Ports.free();
    issuer = new TestIssuer(url);
  }

  @AfterEach
  void stop() {
    issuer.close();
  }

  private IssuerKeys keys() {
    return new IssuerKeys(
        () -> {
          asked++;
          return pending != null
              ? pending
              : CompletableFuture.completedFuture(List.of(issuer.key()));
        },
        nanoTime::get);
  }

  private TokenVerifier verifier() {
    return verifier(keys(), "scope");
  }

  private TokenVerifier verifier(IssuerKeys keys, String claim) {
    return new TokenVerifier(
        url, List.of(AUDIENCE, "other"), new RolesClaim(claim), keys, Clock.systemUTC());
  }

  private JwtClaims claims() {
    return issuer.claims("alice", AUDIENCE, "openid roost:read");
  }

  private static String refusal(TokenVerifier verifier, String token) {
    String message = assertThrows(TokenRefused.class, () -> verifier.verify(token)).getMessage();
    assertFalse(message.contains(token.substring(token.length() - 10)), message);
    return message;
  }

  private void assertRefused(JwtClaims claims, String part) {
    String message = refusal(verifier(), issuer.token(claims));
    assertTrue(message.contains(part), message);
  }

  @Test
  void aValidTokenHasASubjectRolesAndAnEnd() throws Exception {
    AccessToken token = verifier().verify(issuer.token(claims()));
    assertTrue(token.id().matches("oauth_[0-9a-f]{32}"), token.id());
    assertEquals(Set.of("openid", "roost:read"), token.roles());
    assertEquals("alice (OAuth)", token.name());
    assertEquals(token.id(), verifier().verify(issuer.token(claims())).id());
    String other = issuer.token(issuer.claims("bob", "other", null));
    assertNotEquals(token.id(), verifier().verify(other).id());
    assertEquals(Set.of(), verifier().verify(other).roles());
  }

  @Test
  void eachClaimThatIsWrongIsNamed() {
    assertRefused(TestIssuer.expiring(claims(), -70), "expired");
    assertRefused(issuer.claims("alice", "https://else.example", ""), "audience");
    JwtClaims claims = claims();
    claims.setIssuer(url + "/");
    assertRefused(claims, "another issuer");
    claims = claims();
    claims.setNotBeforeMinutesInThePast(-5);
    assertRefused(claims, "not valid yet");
    claims = claims();
    claims.unsetClaim("exp");
    assertRefused(claims, "sub and exp");
    claims = claims();
    claims.unsetClaim("sub");
    assertRefused(claims, "sub and exp");
    claims = claims();
    claims.setClaim("cnf", Map.of("jkt", "x"));
    assertRefused(claims, "plain bearer");
    claims = claims();
    claims.setClaim("padding", "x".repeat(20_000));
    assertRefused(claims, "16,384");
  }

  @Test
  void clocksMayDifferByAMinute() throws Exception {
    verifier().verify(issuer.token(TestIssuer.expiring(claims(), -50)));
  }

  @Test
  void onlySignaturesOfTheIssuerCount() throws Exception {
    PublicJsonWebKey forged = TestIssuer.newKey(issuer.key().getKeyId());
    String token = TestIssuer.signed(claims(), forged, "RS256", "at+jwt");
    assertTrue(refusal(verifier(), token).contains("signature"));

    JsonWebSignature none = new JsonWebSignature();
    none.setAlgorithmConstraints(AlgorithmConstraints.NO_CONSTRAINTS);
    none.setPayload(claims().toJson());
    none.setAlgorithmHeaderValue("none");
    assertThrows(TokenRefused.class, () -> verifier().verify(none.getCompactSerialization()));
  }

  @Test
  void thePublicKeyIsNoSecret() throws Exception {
    JsonWebSignature hmac = new JsonWebSignature();
    hmac.setPayload(claims().toJson());
    hmac.setKeyIdHeaderValue(issuer.key().getKeyId());
    hmac.setAlgorithmHeaderValue("HS256");
    hmac.setKey(new HmacKey(issuer.key().getPublicKey().getEncoded()));
    refusal(verifier(), hmac.getCompactSerialization());

    JsonWebKey secret = OctJwkGenerator.generateJwk(256);
    hmac.setKey(secret.getKey());
    pending = CompletableFuture.completedFuture(List.of(secret));
    refusal(verifier(), hmac.getCompactSerialization());
  }

  @Test
  void algorithmsWithPublicKeysAreTaken() throws Exception {
    for (String type : new String[] {"JWT", "application/at+jwt", null}) {
      verifier().verify(TestIssuer.signed(claims(), issuer.key(), "PS256", type));
    }
    PublicJsonWebKey ec = EcJwkGenerator.generateJwk(EllipticCurves.P256);
    pending = CompletableFuture.completedFuture(List.of(ec));
    verifier().verify(TestIssuer.signed(claims(), ec, "ES256", "at+jwt"));
    PublicJsonWebKey ed = OkpJwkGenerator.generateJwk("Ed25519");
    pending = CompletableFuture.completedFuture(List.of(ed));
    verifier().verify(TestIssuer.signed(claims(), ed, "EdDSA", "at+jwt"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"logout+jwt", "dpop+jwt"})
  void tokensForOtherPurposesAreRefused(String type) {
    String token = TestIssuer.signed(claims(), issuer.key(), "RS256", type);
    assertTrue(refusal(verifier(), token).contains("type"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a", "a.b.c", "....", "a.b.c.d.e", "\u0000", "e30.e30.e30", "bnVsbA.e30.e30"})
  void otherTextIsNoToken(String text) {
    assertThrows(TokenRefused.class, () -> verifier().verify(text));
    String header = Base64.getUrlEncoder().encodeToString("[]".getBytes(StandardCharsets.UTF_8));
    assertThrows(TokenRefused.class, () -> verifier().verify(header + ".e30.e30"));
  }

  @Test
  void rolesMayBeInAListInAnObjectOrUnderAUrl() throws Exception {
    JwtClaims claims = claims();
    claims.setClaim("realm_access", Map.of("roles", List.of("roost:write", "x")));
    claims.setClaim("https://roost.example.org/roles", List.of("roost:execute"));
    String token = issuer.token(claims);
    assertEquals(
        Set.of("roost:write", "x"), verifier(keys(), "realm_access.roles").verify(token).roles());
    assertEquals(
        Set.of("roost:execute"),
        verifier(keys(), "https://roost.example.org/roles").verify(token).roles());
    assertEquals(Set.of(), verifier(keys(), "scope.roles").verify(token).roles());
  }

  @Test
  void unknownKeysMakeFewRequests() throws Exception {
    TokenVerifier verifier = verifier();
    verifier.verify(issuer.token(claims()));
    for (int i = 0; i < 50; i++) {
      String token = issuer.token(claims());
      issuer.key().setKeyId("unknown-" + i);
      String forged = issuer.token(claims());
      issuer.key().setKeyId("first");
      refusal(verifier, forged);
      verifier.verify(token);
    }
    assertEquals(1, asked);
    nanoTime.addAndGet(IssuerKeys.PAUSE.toNanos());
    issuer.rotate("second");
    verifier.verify(issuer.token(claims()));
    assertEquals(2, asked);
  }

  @Test
  void aRequestToTheIssuerHoldsOneThreadAtMost() throws Exception {
    IssuerKeys keys = keys();
    pending = new CompletableFuture<>();
    keys.refreshIf(IssuerKeys.PAUSE);
    TokenVerifier verifier = verifier(keys, "scope");
    String token = issuer.token(claims());
    assertThrows(KeysMissing.class, () -> verifier.verify(token));
    assertEquals(1, asked);
    pending.complete(List.of(issuer.key()));
    verifier.verify(token);
  }

  @Test
  void knownKeysWorkWhileTheIssuerIsDown() throws Exception {
    TokenVerifier verifier = verifier();
    String token = issuer.token(claims());
    verifier.verify(token);
    pending = CompletableFuture.failedFuture(new IOException("down"));
    nanoTime.addAndGet(3_600_000_000_000L);
    verifier.verify(token);
    verifier.verify(token);
    assertEquals(2, asked);
  }
}
