package dev.roost.file;

import java.io.IOException;

/** Where the parts of files are. Its methods may be repeated. */
interface ObjectStorage {
  /** Stores an object durably, instead of an earlier one with the same key. */
  void put(String key, byte[] bytes) throws IOException;

  /**
   * @throws java.nio.file.NoSuchFileException there is none with that key
   */
  byte[] get(String key) throws IOException;

  /** Removes an object; no effect when there is none. */
  void delete(String key) throws IOException;
}
