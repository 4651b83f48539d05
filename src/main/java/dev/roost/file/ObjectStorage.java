package dev.roost.file;

import dev.roost.config.RoostConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Where the parts of files are. Its methods may be repeated. */
interface ObjectStorage {
  /** The storage that the settings name, if they name one. */
  static Optional<ObjectStorage> of(RoostConfig config) {
    if (config.files().bucket().isPresent()) {
      return Optional.of(new BucketObjects(config.files()));
    }
    Optional<Path> ofData =
        config.runtime().equals("local")
            ? Optional.of(config.data().resolve("files"))
            : Optional.empty();
    return config.files().directory().or(() -> ofData).map(DirectoryObjects::new);
  }

  /** Stores an object durably, instead of an earlier one with the same key. */
  void put(String key, byte[] bytes) throws IOException;

  /**
   * Reads bytes of an object.
   *
   * @param length more than 0, within the object
   * @throws java.nio.file.NoSuchFileException there is none with that key
   */
  byte[] get(String key, int from, int length) throws IOException;

  /** Removes an object; no effect when there is none. */
  void delete(String key) throws IOException;
}
