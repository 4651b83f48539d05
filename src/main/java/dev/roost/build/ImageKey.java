package dev.roost.build;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** Names a Build by what goes into it, so that agents which need the same share one. */
public final class ImageKey {
  /** Changes when the way of building changes so that older Builds don't serve any more. */
  private static final String FORMAT = "roost-build-1";

  private ImageKey() {}

  /**
   * @param baseIdentity what the runtime says identifies the base of that Python version
   * @param requirements normalised and sorted
   * @return SHA-256, 64 hexadecimal digits
   */
  public static String of(
      String baseIdentity, String platform, String pythonVersion, List<String> requirements) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      List<String> parts =
          List.of(FORMAT, baseIdentity, platform, pythonVersion, String.join("\n", requirements));
      for (String part : parts) {
        digest.update(part.getBytes(StandardCharsets.UTF_8));
        digest.update((byte) 0);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
