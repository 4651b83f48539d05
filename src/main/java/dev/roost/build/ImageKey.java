package dev.roost.build;

import dev.roost.api.Text;
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
   * @return SHA-256, 64 hexadecimal digits
   */
  static String of(
      String baseIdentity, String platform, String pythonVersion, List<String> requirements) {
    List<String> parts =
        List.of(FORMAT, baseIdentity, platform, pythonVersion, String.join("\n", requirements));
    return HexFormat.of().formatHex(Text.sha256(String.join("\0", parts) + "\0"));
  }
}
