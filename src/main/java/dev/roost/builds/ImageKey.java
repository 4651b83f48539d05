package dev.roost.builds;

import dev.roost.api.Text;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Names a Build by what goes into it, so that agents which need the same share one. */
final class ImageKey {
  /** Changes when the way of building changes so that older Builds don't serve any more. */
  private static final String FORMAT = "roost-build-1";

  private ImageKey() {}

  /**
   * @param baseIdentity what the runtime says identifies the base of that Python version
   * @param requirements normalised and sorted, with the hash of the SDK where that is required
   * @param nonce null: that of all which are made of the same
   * @return SHA-256, 64 hexadecimal digits
   */
  static String of(
      String baseIdentity,
      String platform,
      String pythonVersion,
      List<String> requirements,
      String nonce) {
    List<String> parts =
        new ArrayList<>(
            List.of(
                FORMAT, baseIdentity, platform, pythonVersion, String.join("\n", requirements)));
    if (nonce != null) {
      parts.add(nonce);
    }
    return HexFormat.of().formatHex(Text.sha256(String.join("\0", parts) + "\0"));
  }
}
