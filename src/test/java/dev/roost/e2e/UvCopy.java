package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;

/** uv as the first start has fetched it, so that not every data directory needs it again. */
final class UvCopy {
  /** Goes before the PATH of what is started. */
  static final Path DIRECTORY = Path.of("target", "e2e-tools").toAbsolutePath();

  private UvCopy() {}

  static void keep(Path data) {
    try {
      if (Files.exists(DIRECTORY.resolve("uv")) || !Files.isDirectory(data.resolve("tools"))) {
        return;
      }
      Files.createDirectories(DIRECTORY);
      try (Stream<Path> all = Files.walk(data.resolve("tools"))) {
        Path uv = all.filter(path -> path.endsWith("bin/uv")).findFirst().orElseThrow();
        Path draft = Files.createTempFile(DIRECTORY, "uv", "");
        Files.copy(
            uv, draft, StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
        Files.move(draft, DIRECTORY.resolve("uv"), StandardCopyOption.ATOMIC_MOVE);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
