package dev.roost.file;

import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;

/** Stores, reads and removes files. */
@ApplicationScoped
public class Files {
  private static final Logger LOG = Logger.getLogger(Files.class);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int LINK_KEY_BYTES = 32;
  static final int MOST_NAME_CHARACTERS = 255;

  /** A type and a subtype, with parameters of printable characters; see RFC 9110, 8.3.1. */
  private static final Pattern CONTENT_TYPE =
      Pattern.compile("[\\w!#$&^.+-]{1,80}/[\\w!#$&^.+-]{1,80}(?:;[\\x20-\\x7e]{0,80})?");

  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  private static final Sql INSERT =
      Sql.of(
          """
          insert into file as f (id, name, content_type, state, execution_id, link_key, created_at, used_at)
          values (:id, :name, :type, 'uploading', cast(:execution as text), :key, now(), now())
          returning\s"""
              + StoredFile.COLUMNS);

  /** A file whose parts are all about to be stored. */
  private static final Sql INSERT_WHOLE =
      Sql.of(
          """
          insert into file (id, name, content_type, state, size_bytes, parts, sha256, link_key, created_at, used_at)
          values (:id, :name, :type, 'uploading', :size, :parts, :digest, :key, now(), now())""");

  private static final Sql STORED =
      Sql.of("update file set state = 'stored' where id = :id and state = 'uploading'");

  private static final Sql DISCARD =
      Sql.of(
          """
          update file f set state = 'removed'
          where f.id = :id and not f.kept
            and not exists (select 1 from job_file j where j.file_id = f.id)
          returning\s"""
              + StoredFile.COLUMNS);

  private static final Sql FIND =
      Sql.of(
          "select "
              + StoredFile.COLUMNS
              + " from file f where f.id = :id and f.state <> 'removed'");

  /** The next part, or one that is there already. Parts but the last are whole. */
  private static final Sql ADD_PART =
      Sql.of(
          """
          update file f set parts = f.parts + 1, size_bytes = f.size_bytes + :bytes
          where f.id = :id and f.state = 'uploading' and f.parts = :part
            and f.size_bytes = cast(:part as bigint) * :whole
          returning\s"""
              + StoredFile.COLUMNS);

  private static final Sql COMPLETE =
      Sql.of(
          """
          update file f set state = 'stored', sha256 = cast(:digest as bytea)
          where f.id = :id and f.state = 'uploading' and f.size_bytes = :size
          returning\s"""
              + StoredFile.COLUMNS);

  private static final Sql KEEP =
      Sql.of("update file set kept = true where id = :id and state = 'stored'");

  /** {@link OldFiles} deletes the parts and the rows. */
  private static final Sql RELEASE =
      Sql.of(
          """
          update file f set kept = false,
            state = case when exists (select 1 from job_file j where j.file_id = f.id) then f.state else 'removed' end
          where f.id = any(:ids)""");

  private static final Sql LOCK =
      Sql.of("select id from file where id = any(:ids) order by id for update");

  private final Database database;
  private final Storage storage;
  private final RoostConfig.Limits limits;
  private final Optional<ObjectStorage> objects;

  Files(Database database, Storage storage, RoostConfig config) {
    this.database = database;
    this.storage = storage;
    this.limits = config.limits();
    this.objects = ObjectStorage.of(config);
  }

  /**
   * Begins a file, without parts.
   *
   * @param contentType null: any bytes
   * @param executionId that makes it; null: a client uploads it
   * @throws Problem validation_failed, conflict: there is no storage; storage_full
   */
  public StoredFile begin(String name, String contentType, String executionId) {
    objects();
    storage.require(Storage.Area.FILES);
    checkName(name);
    String type = contentType == null ? "application/octet-stream" : contentType;
    if (!CONTENT_TYPE.matcher(type).matches()) {
      throw Problem.invalid(
          "/content_type", "malformed", "content_type must be a media type, such as text/csv.");
    }
    Sql.Bound insert =
        INSERT
            .with("id", Ids.next("file"))
            .with("name", name)
            .with("type", type)
            .with("execution", executionId)
            .with("key", linkKey());
    return database.once(connection -> insert.first(connection, StoredFile::read)).orElseThrow();
  }

  private static byte[] linkKey() {
    byte[] key = new byte[LINK_KEY_BYTES];
    RANDOM.nextBytes(key);
    return key;
  }

  /**
   * @throws Problem conflict: there is no storage
   */
  public void requireStorage() {
    objects();
  }

  /** Whether files can be stored: there is a storage, with room. */
  public boolean canStore() {
    return objects.isPresent() && !storage.isFull(Storage.Area.FILES);
  }

  /**
   * Stores a file at once. It is removed a day later unless a job refers to it by then.
   *
   * @param bytes at least one
   * @return its identifier
   * @throws Problem conflict: there is no storage; storage_full, unavailable
   */
  public String store(String name, String contentType, byte[] bytes) {
    objects();
    storage.require(Storage.Area.FILES);
    String id = Ids.next("file");
    int parts = (bytes.length + StoredFile.PART_BYTES - 1) / StoredFile.PART_BYTES;
    Sql.Bound insert =
        INSERT_WHOLE
            .with("id", id)
            .with("name", name)
            .with("type", contentType)
            .with("size", bytes.length)
            .with("parts", parts)
            .with("digest", Text.sha256(bytes))
            .with("key", linkKey());
    database.once(insert::update);
    for (int part = 0; part < parts; part++) {
      int from = part * StoredFile.PART_BYTES;
      int to = Math.min(bytes.length, from + StoredFile.PART_BYTES);
      store(StoredFile.key(id, part), Arrays.copyOfRange(bytes, from, to));
    }
    database.once(STORED.with("id", id)::update);
    return id;
  }

  /**
   * Keeps a file although no job refers to it, until {@link #release}; in the caller's transaction.
   *
   * @return false: there is no complete file with that identifier
   */
  public static boolean keep(EntityManager entities, String id) {
    return KEEP.with("id", id).update(entities) == 1;
  }

  /** The same in the transaction of that connection. */
  public static boolean keep(Connection connection, String id) throws SQLException {
    return KEEP.with("id", id).update(connection) == 1;
  }

  /** Ends {@link #keep}: the files are removed unless jobs refer to them. */
  public static void release(EntityManager entities, List<String> ids) {
    RELEASE.with("ids", ids.toArray(String[]::new)).update(entities);
  }

  /** The same in the transaction of that connection. */
  public static void release(Connection connection, List<String> ids) throws SQLException {
    RELEASE.with("ids", ids.toArray(String[]::new)).update(connection);
  }

  /** Locks files until the transaction ends: {@link #keep} waits until then. */
  public static void lock(Connection connection, List<String> ids) throws SQLException {
    LOCK.with("ids", ids.toArray(String[]::new)).strings(connection);
  }

  /** Removes a file unless a job refers to it. What can't be deleted now is deleted later. */
  public void discard(String id) {
    Sql.Bound discard = DISCARD.with("id", id);
    database
        .once(connection -> discard.first(connection, StoredFile::read))
        .filter(this::deleteParts)
        .ifPresent(file -> database.once(OldFiles.DELETE.with("id", id)::update));
  }

  /**
   * All bytes of a small file.
   *
   * @return empty if it isn't there any more
   * @throws Problem unavailable
   */
  public Optional<byte[]> content(String id) {
    Optional<StoredFile> file = findIfAny(id);
    if (file.isEmpty() || file.get().state() != FileState.STORED) {
      return Optional.empty();
    }
    return content(file.get(), 0, (int) file.get().sizeBytes());
  }

  /**
   * Some bytes of a file, which may be in several parts.
   *
   * @param from the first one, within the file
   * @param length how many, within the file
   * @return empty if the storage has lost them
   * @throws Problem unavailable
   */
  public Optional<byte[]> content(StoredFile file, long from, int length) {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    try {
      while (bytes.hasRemaining()) {
        bytes.put(get(file, from + bytes.position(), bytes.remaining()));
      }
      return Optional.of(bytes.array());
    } catch (NoSuchFileException e) {
      LOG.errorf("the storage of files has lost %s", file.id());
      return Optional.empty();
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  /**
   * A whole part.
   *
   * @param part of those that are there
   * @return empty if the storage has lost it
   * @throws Problem unavailable
   */
  public Optional<byte[]> part(StoredFile file, int part) {
    return content(file, (long) part * StoredFile.PART_BYTES, (int) lengthOf(file, part));
  }

  private static void checkName(String name) {
    boolean isPath =
        name.contains("/") || name.contains("\\") || name.equals(".") || name.equals("..");
    if (name.isEmpty()
        || name.length() > MOST_NAME_CHARACTERS
        || isPath
        || name.chars().anyMatch(Character::isISOControl)) {
      throw Problem.invalid(
          "/name",
          "malformed",
          "name must have 1 to %d characters, without slashes and control characters."
              .formatted(MOST_NAME_CHARACTERS));
    }
  }

  /**
   * @throws Problem not_found
   */
  public StoredFile find(String id) {
    return findIfAny(id).orElseThrow(() -> Problem.notFound("file", id));
  }

  /** The file with that identifier. */
  public Optional<StoredFile> findIfAny(String id) {
    Sql.Bound find = FIND.with("id", id);
    return database.once(connection -> find.first(connection, StoredFile::read));
  }

  /**
   * Stores a part. Repeating it stores it again.
   *
   * @param executionId that makes it; null: a client
   * @param part its number, from 0 on; each follows the one before
   * @throws Problem not_found, conflict, too_large, unavailable
   */
  public StoredFile part(String id, String executionId, int part, byte[] bytes) {
    StoredFile file = own(id, executionId);
    if (bytes.length == 0 || bytes.length > StoredFile.PART_BYTES) {
      throw Problem.of(
          ErrorCode.TOO_LARGE, "A part has 1 to %,d bytes.".formatted(StoredFile.PART_BYTES));
    }
    if ((long) part * StoredFile.PART_BYTES + bytes.length > limits.fileBytes()) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "A file can have %,d bytes (setting roost.limits.file-bytes)."
              .formatted(limits.fileBytes()));
    }
    boolean isNext =
        part == file.parts() && file.sizeBytes() == (long) part * StoredFile.PART_BYTES;
    boolean isRepeated = part < file.parts() && bytes.length == lengthOf(file, part);
    if (file.state() != FileState.UPLOADING || !isNext && !isRepeated) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          ("The file %s is %s and has %d parts, so it can't get this one as number %d. Parts follow each "
                  + "other from 0 on, and all but the last have %,d bytes.")
              .formatted(id, file.state().code(), file.parts(), part, StoredFile.PART_BYTES));
    }
    storage.require(Storage.Area.FILES);
    store(StoredFile.key(id, part), bytes);
    if (isRepeated) {
      return file;
    }
    Sql.Bound add =
        ADD_PART
            .with("id", id)
            .with("part", part)
            .with("bytes", bytes.length)
            .with("whole", StoredFile.PART_BYTES);
    // Nothing is updated if another request has stored the same part.
    return database.once(c -> add.first(c, StoredFile::read)).orElseGet(() -> find(id));
  }

  /** Whoever has begun a file sends its parts, and nobody else. */
  private StoredFile own(String id, String executionId) {
    StoredFile file = find(id);
    if (!Objects.equals(file.executionId(), executionId)) {
      throw Problem.notFound("file", id);
    }
    return file;
  }

  private static long lengthOf(StoredFile file, int part) {
    long rest = file.sizeBytes() - (long) part * StoredFile.PART_BYTES;
    return Math.min(rest, StoredFile.PART_BYTES);
  }

  /**
   * Completes a file. Repeating it has no effect.
   *
   * @param sha256 hexadecimal, or null: nobody has computed it
   * @throws Problem not_found, validation_failed, conflict: it has another size
   */
  public StoredFile complete(String id, String executionId, long sizeBytes, String sha256) {
    own(id, executionId);
    if (sha256 != null && !SHA256.matcher(sha256).matches()) {
      throw Problem.invalid("/sha256", "malformed", "sha256 must be 64 hexadecimal digits.");
    }
    Sql.Bound complete =
        COMPLETE
            .with("id", id)
            .with("size", sizeBytes)
            .with("digest", sha256 == null ? null : HexFormat.of().parseHex(sha256));
    return database
        .once(connection -> complete.first(connection, StoredFile::read))
        .orElseGet(
            () -> {
              StoredFile file = find(id);
              boolean isRepeated =
                  file.state() == FileState.STORED
                      && Objects.equals(sha256, file.sha256())
                      && file.sizeBytes() == sizeBytes;
              if (isRepeated) {
                return file;
              }
              throw Problem.of(
                  ErrorCode.CONFLICT,
                  "The file %s is %s and has %,d bytes; it can't be completed with %,d bytes."
                      .formatted(id, file.state().code(), file.sizeBytes(), sizeBytes));
            });
  }

  /**
   * A whole part.
   *
   * @param part of those that are there
   * @throws Problem unavailable
   */
  public byte[] read(StoredFile file, int part) {
    return read(file, (long) part * StoredFile.PART_BYTES, StoredFile.PART_BYTES);
  }

  /**
   * Bytes of one part.
   *
   * @param from the first one, within the file
   * @param most how many at most; there are fewer at the end of a part
   * @throws Problem unavailable
   */
  byte[] read(StoredFile file, long from, int most) {
    try {
      return get(file, from, most);
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  private byte[] get(StoredFile file, long from, int most) throws IOException {
    int part = (int) (from / StoredFile.PART_BYTES);
    int begin = (int) (from % StoredFile.PART_BYTES);
    int length = (int) Math.min(most, lengthOf(file, part) - begin);
    return objects().get(StoredFile.key(file.id(), part), begin, length);
  }

  /**
   * Deletes the parts of a file that is being removed.
   *
   * @return false: the storage can't be reached, or there is none now; it is to be tried again
   */
  boolean deleteParts(StoredFile file) {
    if (objects.isEmpty()) {
      return false;
    }
    try {
      // The last one may have been stored by a request that did not come to an end.
      for (int part = 0; part <= file.parts(); part++) {
        objects.get().delete(StoredFile.key(file.id(), part));
      }
      return true;
    } catch (IOException e) {
      LOG.warnf("the parts of %s can't be deleted: %s", file.id(), e);
      return false;
    }
  }

  private void store(String key, byte[] bytes) {
    try {
      objects().put(key, bytes);
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  private ObjectStorage objects() {
    return objects.orElseThrow(
        () ->
            Problem.of(
                ErrorCode.CONFLICT,
                "This Roost stores no files. Set roost.files.bucket, or roost.files.directory to a directory "
                    + "that all replicas share."));
  }

  private static Problem unavailable(IOException e) {
    // It may name paths and servers, so callers don't see it.
    LOG.errorf("a part of a file can't be stored or read: %s", e);
    return Problem.retryLater(
        ErrorCode.UNAVAILABLE, "The storage of files can't be reached. Retry later.", 5);
  }
}
