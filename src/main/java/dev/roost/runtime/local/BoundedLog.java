package dev.roost.runtime.local;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A file that another process appends to, and that is emptied when it grows too long.
 *
 * @param file opened by its writer for appending, so that emptying it loses nothing later
 */
public record BoundedLog(Path file, long maxBytes) {
  /** When the file is too long: keeps its last half under another name and empties it. */
  public void trim() throws IOException {
    if (Files.exists(file) && Files.size(file) > maxBytes) {
      Files.write(file.resolveSibling(file.getFileName() + ".1"), end(maxBytes / 2));
      try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
        content.setLength(0);
      }
    }
  }

  /** Its last lines, few enough for a message; empty when there are none. */
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
