package dev.roost.file;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures of links, which need no other key: of what a link is for, and of its end. */
public final class LinkSignature {
  private static final String ALGORITHM = "HmacSHA256";

  private LinkSignature() {}

  /**
   * @param id of what the link is for
   * @param end seconds since 1970
   * @return 64 hexadecimal digits
   */
  public static String of(byte[] key, String id, long end) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return HexFormat.of()
          .formatHex(mac.doFinal((id + "\n" + end).getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // Each Java platform has this algorithm.
    }
  }

  /** Whether a link's signature is this one; takes the same time whatever is given. */
  public static boolean matches(byte[] key, String id, long end, String given) {
    return MessageDigest.isEqual(
        of(key, id, end).getBytes(StandardCharsets.US_ASCII),
        given.getBytes(StandardCharsets.UTF_8));
  }
}
