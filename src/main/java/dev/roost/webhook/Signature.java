package dev.roost.webhook;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures of Standard Webhooks, version 1: symmetric, HMAC with SHA-256. */
final class Signature {
  private static final String ALGORITHM = "HmacSHA256";

  private Signature() {}

  /**
   * The header {@code webhook-signature}: one signature for each secret, separated by spaces.
   *
   * @param id the header {@code webhook-id}
   * @param seconds the header {@code webhook-timestamp}, since 1970
   */
  static String header(List<String> secrets, String id, long seconds, byte[] body) {
    return secrets.stream()
        .map(secret -> "v1," + sign(Secret.key(secret), id, seconds, body))
        .collect(Collectors.joining(" "));
  }

  private static String sign(byte[] key, String id, long seconds, byte[] body) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes((id + "." + seconds + ".").getBytes(StandardCharsets.UTF_8));
    content.writeBytes(body);
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return Base64.getEncoder().encodeToString(mac.doFinal(content.toByteArray()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // Every Java has HMAC with SHA-256.
    }
  }
}
