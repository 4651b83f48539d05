package dev.roost.executor;

import dev.roost.config.RoostConfig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The files with the certificate and key of the executors' port. */
record LinkCertificate(Path certificate, Path key) {

  /**
   * @throws IllegalArgumentException naming the setting that is missing
   */
  static Optional<LinkCertificate> of(RoostConfig config) {
    Optional<Path> certificate = config.link().certificate();
    if (certificate.isPresent() && config.internalPort().isEmpty()) {
      throw new IllegalArgumentException(
          "roost.link.certificate requires roost.internal-port. Set both");
    }
    if (certificate.isPresent() != config.link().key().isPresent()) {
      throw new IllegalArgumentException(
          "roost.link.certificate requires roost.link.key, and vice versa. Set both");
    }
    return certificate.map(path -> new LinkCertificate(path, config.link().key().get()));
  }

  /** Reads the current contents of the files. */
  PemKeyCertOptions read() throws IOException {
    return new PemKeyCertOptions()
        .setCertValue(Buffer.buffer(Files.readAllBytes(certificate)))
        .setKeyValue(Buffer.buffer(Files.readAllBytes(key)));
  }

  static boolean same(PemKeyCertOptions one, PemKeyCertOptions other) {
    return one.getCertValue().equals(other.getCertValue())
        && one.getKeyValue().equals(other.getKeyValue());
  }
}
