package dev.roost.runtime.local;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Writes and removes files of the data directory. */
public final class PrivateFiles {
  private PrivateFiles() {}

  /**
   * Writes a small file that only its owner can read. The write is atomic: when this process is
   * killed, the file is either complete or absent.
   */
  public static void write(Path file, String text) throws IOException {
    write(file, text, false);
  }

  /** As {@link #write(Path, String)}, and the file survives a power failure. */
  public static void writeDurably(Path file, String text) throws IOException {
    write(file, text, true);
  }

  private static void write(Path file, String text, boolean durably) throws IOException {
    Path draft = file.resolveSibling("." + file.getFileName() + ".new");
    Files.deleteIfExists(draft);
    try (FileChannel channel =
        FileChannel.open(
            draft,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      if (durably) {
        channel.force(true);
      }
    }
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** The file's text without surrounding white space, or null when the file doesn't exist. */
  public static String read(Path file) throws IOException {
    try {
      return Files.readString(file).strip();
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Removes a directory with its contents. An absent directory is no error. */
  public static void deleteTree(Path directory) throws IOException {
    try {
      Files.walkFileTree(directory, new Remover());
    } catch (NoSuchFileException e) {
      // Another process has removed it.
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    /**
     * What is in a read-only directory, such as the files of an agent's project, can't be deleted.
     */
    @Override
    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
      if (!Files.isWritable(directory)) {
        // What can't be changed shows when it can't be deleted.
        directory.toFile().setWritable(true, true);
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
      if (failure instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw failure;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException failure)
        throws IOException {
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
