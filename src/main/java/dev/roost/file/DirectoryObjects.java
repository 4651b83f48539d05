package dev.roost.file;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;

/**
 * Objects as files of a directory. Of a key {@code <id>/<number>}, the last two characters of the
 * identifier name a directory, so that none has very many entries.
 */
final class DirectoryObjects implements ObjectStorage {
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path root;

  DirectoryObjects(Path root) {
    this.root = root;
  }

  @Override
  public void put(String key, byte[] bytes) throws IOException {
    Path file = file(key);
    Files.createDirectories(file.getParent(), PRIVATE_DIRECTORY);
    // Two replicas may store the same part.
    Path draft = file.resolveSibling("." + UUID.randomUUID());
    try {
      try (FileChannel channel =
          FileChannel.open(
              draft,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              PRIVATE_FILE)) {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining()) {
          channel.write(rest);
        }
        channel.force(true);
      }
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      synchronise(file.getParent());
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /** The entry in the directory outlasts a power failure, too. */
  private static void synchronise(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public byte[] get(String key, int from, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    try (FileChannel channel = FileChannel.open(file(key), StandardOpenOption.READ)) {
      channel.position(from);
      while (bytes.hasRemaining()) {
        if (channel.read(bytes) < 0) {
          throw new EOFException(key + " ends before byte " + (from + length));
        }
      }
    }
    return bytes.array();
  }

  @Override
  public void delete(String key) throws IOException {
    Path file = file(key);
    Files.deleteIfExists(file);
    try {
      Files.deleteIfExists(file.getParent());
    } catch (DirectoryNotEmptyException | NoSuchFileException e) {
      // It has other parts.
    }
  }

  private Path file(String key) {
    String id = key.substring(0, key.indexOf('/'));
    return root.resolve(id.substring(id.length() - 2)).resolve(key);
  }
}
