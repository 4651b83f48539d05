package dev.roost.runtime.local;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A log file that another process appends to, and that Roost truncates when it grows too long.
 *
 * @param file its writer must open it for appending, so that a truncation loses nothing later
 */
public record BoundedLog(Path file, long maxBytes) {
  /** When the file is too long: copies its last half to another file and empties it. */
  public void trim() throws IOException {
    if (Files.exists(file) && Files.size(file) > maxBytes) {
      Files.write(file.resolveSibling(file.getFileName() + ".1"), end(maxBytes / 2));
      try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
        content.setLength(0);
      }
    }
  }

  /** The last lines, short enough for a message; empty when there are none. */
  public String lastLines() throws IOException {
    List<String> lines = new String(end(4096), StandardCharsets.UTF_8).strip().lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
  }

  private byte[] end(long bytes) throws IOException {
    if (!Files.exists(file)) {
      return new byte[0];
    }
    try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "r")) {
      byte[] end = new byte[(int) Math.min(bytes, content.length())];
      content.seek(content.length() - end.length);
      content.readFully(end);
      return end;
    }
  }
}
