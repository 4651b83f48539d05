package dev.roost.bundle;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A file of a bundle.
 *
 * @param sha256 64 lower-case hexadecimal digits
 * @param pack the number of the pack that has its bytes, from 0 on; 0 for an empty file
 * @param offset of its first byte in the pack; 0 for an empty file
 */
public record BundleFile(
    String path, long sizeBytes, String sha256, boolean executable, int pack, long offset) {

  /** As clients see it. */
  @Schema(name = "BundleFile")
  record View(
      @Schema(description = "Its path in the bundle, with / between segments") String path,
      @Schema(description = "Its size") long sizeBytes,
      @Schema(description = "Its SHA-256 digest, hexadecimal") String sha256,
      @Schema(description = "Whether it may be executed as a program") boolean executable) {}

  View view() {
    return new View(path, sizeBytes, sha256, executable);
  }

  BundleFile in(int otherPack) {
    return new BundleFile(path, sizeBytes, sha256, executable, otherPack, offset);
  }
}
