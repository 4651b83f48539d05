package dev.roost.oauth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.ErrorCodes;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.jwt.consumer.JwtContext;
import org.jose4j.jwx.JsonWebStructure;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jose4j.lang.JoseException;

/** Verifies access tokens: JWTs (RFC 9068, RFC 8725) of one issuer for one of some audiences. */
final class TokenVerifier {
  private static final int MOST_CHARACTERS = 16 * 1024;
  private static final int LEEWAY_SECONDS = 60;
  private static final int NAME_LENGTH = 100;
  private static final int ID_BYTES = 16;

  private static final AlgorithmConstraints SIGNATURES =
      new AlgorithmConstraints(
          AlgorithmConstraints.ConstraintType.PERMIT,
          AlgorithmIdentifiers.RSA_USING_SHA256,
          AlgorithmIdentifiers.RSA_USING_SHA384,
          AlgorithmIdentifiers.RSA_USING_SHA512,
          AlgorithmIdentifiers.RSA_PSS_USING_SHA256,
          AlgorithmIdentifiers.RSA_PSS_USING_SHA384,
          AlgorithmIdentifiers.RSA_PSS_USING_SHA512,
          AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256,
          AlgorithmIdentifiers.ECDSA_USING_P384_CURVE_AND_SHA384,
          AlgorithmIdentifiers.ECDSA_USING_P521_CURVE_AND_SHA512,
          AlgorithmIdentifiers.EDDSA);

  /** Other types, such as logout tokens, are not for access. Some issuers omit the type. */
  private static final Set<String> TYPES = Set.of("jwt", "at+jwt", "application/at+jwt");

  private final String issuer;
  private final String[] audiences;
  private final RolesClaim roles;
  private final IssuerKeys keys;
  private final Clock clock;

  TokenVerifier(
      String issuer, List<String> audiences, RolesClaim roles, IssuerKeys keys, Clock clock) {
    this.issuer = issuer;
    this.audiences = audiences.toArray(String[]::new);
    this.roles = roles;
    this.keys = keys;
    this.clock = clock;
  }

  /** May block until the issuer has sent its keys. */
  AccessToken verify(String token) throws TokenRefused, KeysMissing {
    if (token.length() > MOST_CHARACTERS) {
      throw new TokenRefused(
          "The access token has more than %,d characters.".formatted(MOST_CHARACTERS));
    }
    List<JsonWebKey> known = keys.with(keyId(token));
    try {
      JwtContext context = consumer(known).process(token);
      JwtClaims claims = context.getJwtClaims();
      // A token in a token, or one that is bound to a key or a certificate of its client.
      if (context.getJoseObjects().size() != 1 || claims.hasClaim("cnf")) {
        throw new TokenRefused("The access token is not a plain bearer token.");
      }
      return accessToken(claims);
    } catch (InvalidJwtException e) {
      throw new TokenRefused(message(e));
    } catch (MalformedClaimException e) {
      throw new TokenRefused("The access token has a claim of the wrong type.");
    }
  }

  /** Everything that can be said against a token before its key is looked up. */
  private static String keyId(String token) throws TokenRefused {
    try {
      if (!(JsonWebStructure.fromCompactSerialization(token) instanceof JsonWebSignature signed)) {
        throw new TokenRefused("The access token is encrypted; only signed ones are supported.");
      }
      SIGNATURES.checkConstraint(signed.getAlgorithmHeaderValue());
      String type = signed.getHeader("typ");
      if (type != null && !TYPES.contains(type.toLowerCase(Locale.ROOT))) {
        throw new TokenRefused("The token is not an access token: its type is another one.");
      }
      return signed.getKeyIdHeaderValue();
    } catch (JoseException | ClassCastException e) {
      throw new TokenRefused(
          "This is neither an API key nor an access token (a JWT with an asymmetric signature).");
    }
  }

  private JwtConsumer consumer(List<JsonWebKey> known) {
    JwksVerificationKeyResolver resolver = new JwksVerificationKeyResolver(known);
    resolver.setDisambiguateWithVerifySignature(true);
    return new JwtConsumerBuilder()
        .setVerificationKeyResolver(resolver)
        .setJwsAlgorithmConstraints(SIGNATURES)
        .setExpectedIssuer(true, issuer)
        .setExpectedAudience(true, audiences)
        .setRequireSubject()
        .setRequireExpirationTime()
        .setAllowedClockSkewInSeconds(LEEWAY_SECONDS)
        .setEvaluationTime(NumericDate.fromSeconds(clock.instant().getEpochSecond()))
        .build();
  }

  private AccessToken accessToken(JwtClaims claims) throws MalformedClaimException {
    NumericDate issued = claims.getIssuedAt();
    return new AccessToken(
        AccessToken.id(hash(issuer + '\0' + claims.getSubject())),
        name(claims),
        roles.of(claims),
        issued == null ? clock.instant() : Instant.ofEpochSecond(issued.getValue()),
        Instant.ofEpochSecond(claims.getExpirationTime().getValue()).plusSeconds(LEEWAY_SECONDS));
  }

  private static String name(JwtClaims claims) throws MalformedClaimException {
    String name =
        claims.getClaimValue("preferred_username") instanceof String text && !text.isBlank()
            ? text
            : claims.getSubject();
    String printable = name.replaceAll("[\\p{C}]", "?");
    return printable.substring(0, Math.min(printable.length(), NAME_LENGTH)) + " (OAuth)";
  }

  private String message(InvalidJwtException e) {
    if (e.hasErrorCode(ErrorCodes.EXPIRED)) {
      return "The access token has expired; get another one from " + issuer + ".";
    }
    if (e.hasErrorCode(ErrorCodes.NOT_YET_VALID)) {
      return "The access token is not valid yet; compare the clocks.";
    }
    if (e.hasErrorCode(ErrorCodes.ISSUER_INVALID) || e.hasErrorCode(ErrorCodes.ISSUER_MISSING)) {
      return "The access token is of another issuer; get one from " + issuer + ".";
    }
    if (e.hasErrorCode(ErrorCodes.AUDIENCE_INVALID)
        || e.hasErrorCode(ErrorCodes.AUDIENCE_MISSING)) {
      return "The access token is for another audience; it must be for one of: %s."
          .formatted(String.join(", ", audiences));
    }
    if (e.hasErrorCode(ErrorCodes.SUBJECT_MISSING)
        || e.hasErrorCode(ErrorCodes.EXPIRATION_MISSING)) {
      return "The access token must have the claims sub and exp.";
    }
    if (e.hasErrorCode(ErrorCodes.SIGNATURE_INVALID)) {
      return "The signature of the access token is not one of the issuer " + issuer + ".";
    }
    return "The access token is signed with a key that is not one of the issuer "
        + issuer
        + ", or its claims are contradictory.";
  }

  private static String hash(String text) {
    try {
      byte[] sha256 =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sha256, 0, ID_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
