package dev.roost.bundle;

import dev.roost.api.Text;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;

/**
 * What a bundle consists of.
 *
 * @param packs the size of each pack in bytes
 * @param files sorted by the bytes of their paths
 */
public record BundleManifest(List<Long> packs, List<BundleFile> files) {
  static final BundleManifest EMPTY = new BundleManifest(List.of(), List.of());

  public Optional<BundleFile> file(String path) {
    return files.stream().filter(file -> file.path().equals(path)).findFirst();
  }

  /** The digest of the bundle, 32 bytes: of the digests, kinds and paths of its files. */
  byte[] sha256() {
    MessageDigest digest = Text.sha256();
    for (BundleFile file : files) {
      String kind = file.executable() ? "x" : "-";
      String line = "%s %s %s\n".formatted(file.sha256(), kind, file.path());
      digest.update(line.getBytes(StandardCharsets.UTF_8));
    }
    return digest.digest();
  }

  long sizeBytes() {
    return files.stream().mapToLong(BundleFile::sizeBytes).sum();
  }
}
