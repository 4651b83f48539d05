package dev.roost.builds;

import dev.roost.api.Text;
import dev.roost.runtime.Requirements;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Names a Build by its inputs, so that agents with the same inputs share a Build. */
final class ImageKey {
  /** Increase when the build process changes so that older Builds become unusable. */
  private static final String FORMAT = "roost-build-1";

  private ImageKey() {}

  /**
   * @param baseIdentity identity of the base for that Python version, from the runtime
   * @param requirements with the hash of the SDK if the SDK is required
   * @param nonce null: the key that all Builds with the same inputs share
   * @return SHA-256, 64 hexadecimal digits
   */
  static String of(
      String baseIdentity,
      String platform,
      String pythonVersion,
      Requirements requirements,
      String nonce) {
    List<String> parts =
        new ArrayList<>(
            List.of(FORMAT, baseIdentity, platform, pythonVersion, requirements.text()));
    if (nonce != null) {
      parts.add(nonce);
    }
    return HexFormat.of().formatHex(Text.sha256(String.join("\0", parts) + "\0"));
  }
}
