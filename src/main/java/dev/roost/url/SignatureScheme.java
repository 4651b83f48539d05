package dev.roost.url;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import dev.roost.webhook.Secret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How the sender of a request has signed its body. All are HMAC with SHA-256; they differ in what
 * is signed besides the body, and in the headers.
 */
public enum SignatureScheme implements Code {
  /** {@code webhook-id}, {@code webhook-timestamp} and {@code webhook-signature: v1,base64}. */
  STANDARD_WEBHOOKS {
    @Override
    Optional<String> mistakeIn(String secret) {
      return Secret.mistake(secret);
    }

    @Override
    byte[] key(String secret) {
      return Secret.key(secret);
    }

    @Override
    Signed read(UnaryOperator<String> header) {
      String id = header.apply("webhook-id");
      String time = header.apply("webhook-timestamp");
      List<byte[]> signatures = new ArrayList<>();
      for (String part : split(header.apply("webhook-signature"), " ")) {
        if (part.startsWith("v1,")) {
          signatures.add(base64(part.substring(3)));
        }
      }
      return new Signed(
          id == null || time == null ? null : id + "." + time + ".", time, signatures);
    }
  },

  /** {@code X-Hub-Signature-256: sha256=hex}, without a time. */
  GITHUB {
    @Override
    Signed read(UnaryOperator<String> header) {
      String value = header.apply("X-Hub-Signature-256");
      boolean known = value != null && value.startsWith("sha256=");
      return new Signed(
          "", null, known ? List.of(hex(value.substring("sha256=".length()))) : List.of());
    }
  },

  /** {@code Stripe-Signature: t=seconds,v1=hex}. */
  STRIPE {
    @Override
    Signed read(UnaryOperator<String> header) {
      String time = null;
      List<byte[]> signatures = new ArrayList<>();
      for (String part : split(header.apply("Stripe-Signature"), ",")) {
        if (part.startsWith("t=")) {
          time = part.substring(2);
        } else if (part.startsWith("v1=")) {
          signatures.add(hex(part.substring(3)));
        }
      }
      return new Signed(time == null ? null : time + ".", time, signatures);
    }
  },

  /** {@code X-Slack-Request-Timestamp} and {@code X-Slack-Signature: v0=hex}. */
  SLACK {
    @Override
    Signed read(UnaryOperator<String> header) {
      String time = header.apply("X-Slack-Request-Timestamp");
      String value = header.apply("X-Slack-Signature");
      boolean known = value != null && value.startsWith("v0=");
      return new Signed(
          time == null ? null : "v0:" + time + ":",
          time,
          known ? List.of(hex(value.substring(3))) : List.of());
    }
  };

  /** How far the time of a signature may be from the time of its arrival. */
  static final Duration TOLERANCE = Duration.ofMinutes(5);

  static final int LEAST_SECRET_CHARACTERS = 16;
  static final int MOST_SECRET_CHARACTERS = 255;

  private static final String ALGORITHM = "HmacSHA256";
  private static final int MOST_SIGNATURES = 20;
  private static final byte[] NO_SIGNATURE = {};

  /**
   * What a request says of its signature.
   *
   * @param prefix of what is signed, before the body; null: a header is missing
   * @param time in seconds since 1970, as it was sent; null: the scheme has none
   * @param signatures of which one has to match
   */
  record Signed(String prefix, String time, List<byte[]> signatures) {}

  abstract Signed read(UnaryOperator<String> header);

  /** The error in a user's secret. The message doesn't contain the secret. */
  Optional<String> mistakeIn(String secret) {
    boolean isPrintable = secret.chars().allMatch(c -> c > 0x20 && c < 0x7f || c == ' ');
    return isPrintable
            && secret.length() >= LEAST_SECRET_CHARACTERS
            && secret.length() <= MOST_SECRET_CHARACTERS
        ? Optional.empty()
        : Optional.of(
            "A secret must have %d to %d printable ASCII characters."
                .formatted(LEAST_SECRET_CHARACTERS, MOST_SECRET_CHARACTERS));
  }

  byte[] key(String secret) {
    return secret.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Checks the signature of a request. All comparisons take the same time.
   *
   * @param header reads a header; null: the request has none of that name
   * @return why the signature isn't valid, for the log; empty if it is
   */
  Optional<String> refusal(String secret, UnaryOperator<String> header, byte[] body, Instant now) {
    Signed signed = read(header);
    if (signed.prefix() == null || signed.signatures().isEmpty()) {
      return Optional.of("it has no signature of the scheme " + code());
    }
    if (signed.time() != null) {
      Optional<Instant> time = seconds(signed.time());
      if (time.isEmpty()) {
        return Optional.of("its time isn't a number of seconds");
      }
      if (Duration.between(time.get(), now).abs().compareTo(TOLERANCE) > 0) {
        return Optional.of(
            "its time, %s, is more than %d minutes away"
                .formatted(time.get(), TOLERANCE.toMinutes()));
      }
    }
    byte[] expected = hmac(key(secret), signed.prefix().getBytes(StandardCharsets.UTF_8), body);
    boolean matches = false;
    for (byte[] signature : signed.signatures()) {
      matches |= MessageDigest.isEqual(expected, signature);
    }
    return matches ? Optional.empty() : Optional.of("its signature doesn't match");
  }

  private static byte[] hmac(byte[] key, byte[] prefix, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      mac.update(prefix);
      return mac.doFinal(body);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // Every Java has HMAC with SHA-256.
    }
  }

  private static Optional<Instant> seconds(String text) {
    return text.matches("[0-9]{1,11}")
        ? Optional.of(Instant.ofEpochSecond(Long.parseLong(text)))
        : Optional.empty();
  }

  private static List<String> split(String header, String separator) {
    return header == null
        ? List.of()
        : List.of(header.split(separator)).stream()
            .map(String::strip)
            .limit(MOST_SIGNATURES)
            .toList();
  }

  private static byte[] hex(String text) {
    try {
      return HexFormat.of().parseHex(text);
    } catch (IllegalArgumentException e) {
      return NO_SIGNATURE;
    }
  }

  private static byte[] base64(String text) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      return NO_SIGNATURE;
    }
  }

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
