package dev.roost.bundle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.file.Files;
import dev.roost.file.StoredFile;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Creates and reads bundles. Their manifests and packs are files that are kept. */
@ApplicationScoped
public class Bundles {
  private static final String MANIFEST_NAME = "bundle.json";
  private static final String PACK_NAME = "bundle.pack";

  private static final Sql INSERT =
      Sql.of(
          """
          insert into bundle (id, sha256, files, size_bytes, created_at)
          values (:id, :digest, :files, :size, now())""");

  private static final Sql INSERT_FILES =
      Sql.of(
          """
          insert into bundle_file (bundle_id, number, file_id)
          select :id, u.number - 1, u.file from unnest(cast(:files as text[])) with ordinality u (file, number)""");

  private static final Sql FILES =
      Sql.of(
          "select "
              + StoredFile.COLUMNS
              + """
               from bundle_file b join file f on f.id = b.file_id
              where b.bundle_id = :id order by b.number""");

  /** Its deletion waits until the transaction ends. */
  private static final Sql LOCK = Sql.of("select id from bundle where id = :id for key share");

  /** Another feature keeps the file, and may remove it. */
  private static final Sql IS_OF_ANOTHER =
      Sql.of(
          """
          select 1 from file f where f.id = :id and f.kept
            and not exists (select 1 from bundle_file b where b.file_id = f.id)""");

  private final Files files;
  private final Database database;
  private final ObjectMapper mapper;
  private final RoostConfig.Limits limits;

  Bundles(Files files, Database database, ObjectMapper mapper, RoostConfig config) {
    this.files = files;
    this.database = database;
    this.mapper = mapper;
    this.limits = config.limits();
  }

  /** A bundle's files in the storage. */
  private record Stored(StoredFile manifest, List<StoredFile> packs) {}

  /**
   * @throws Problem not_found
   */
  public StoredBundle find(String id) {
    Sql.Bound find = StoredBundle.FIND.with("id", id);
    return database
        .once(connection -> find.first(connection, StoredBundle::read))
        .orElseThrow(() -> Problem.notFound("bundle", id));
  }

  private Optional<Stored> stored(String id) {
    Sql.Bound select = FILES.with("id", id);
    List<StoredFile> all = database.once(c -> select.list(c, StoredFile::read));
    return all.isEmpty()
        ? Optional.empty()
        : Optional.of(new Stored(all.get(0), all.subList(1, all.size())));
  }

  /**
   * The JSON text of a bundle's {@link BundleManifest}.
   *
   * @return empty if there is no such bundle, or the storage of files has lost its manifest
   * @throws Problem unavailable
   */
  public Optional<byte[]> manifestText(String id) {
    return stored(id).flatMap(this::text);
  }

  private Optional<byte[]> text(Stored stored) {
    StoredFile manifest = stored.manifest();
    return files.content(manifest, 0, (int) manifest.sizeBytes());
  }

  private BundleManifest parse(byte[] json) {
    try {
      return mapper.readValue(json, BundleManifest.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @throws Problem not_found; gone: the storage of files has lost it; unavailable
   */
  BundleManifest manifest(String id) {
    Stored stored = stored(id).orElseThrow(() -> Problem.notFound("bundle", id));
    return parse(text(stored).orElseThrow(() -> lost(id)));
  }

  /** A file of a bundle with the pack that has its bytes; null: it has none. */
  record Located(BundleFile file, StoredFile pack) {}

  /**
   * @throws Problem not_found, gone, unavailable
   */
  Located locate(String id, String path) {
    BundleFile file =
        manifest(id)
            .file(path)
            .orElseThrow(
                () ->
                    Problem.of(
                        ErrorCode.NOT_FOUND,
                        "The bundle %s has no file %s."
                            .formatted(Text.quote(id), Text.quote(path))));
    if (file.sizeBytes() == 0) {
      return new Located(file, null);
    }
    Stored stored = stored(id).orElseThrow(() -> Problem.notFound("bundle", id));
    return new Located(file, stored.packs().get(file.pack()));
  }

  /**
   * A part of a pack.
   *
   * @param pack its number, from 0 on
   * @param part the number of the part, from 0 on
   * @return empty if the storage of files has lost it
   * @throws Problem validation_failed: there is no such part; unavailable
   */
  public Optional<byte[]> part(String id, int pack, int part) {
    List<StoredFile> packs = stored(id).map(Stored::packs).orElse(List.of());
    if (pack >= packs.size()) {
      throw Problem.invalid(
          "/pack", "out_of_range", "The bundle has %,d packs.".formatted(packs.size()));
    }
    StoredFile file = packs.get(pack);
    if (part >= file.parts()) {
      throw Problem.invalid(
          "/part", "out_of_range", "The pack has %,d parts.".formatted(file.parts()));
    }
    return files.part(file, part);
  }

  /** Keeps a bundle from being deleted until the transaction ends; false: there is none. */
  public static boolean lock(EntityManager entities, String id) {
    return !LOCK.with("id", id).strings(entities).isEmpty();
  }

  /**
   * A file of a bundle, of limited size.
   *
   * @return empty if there is no such bundle, or it has no such file
   * @throws Problem too_large: the file has more bytes; validation_failed: they are lost;
   *     unavailable
   */
  public Optional<byte[]> content(String id, String path, int mostBytes, String setting) {
    Optional<Stored> stored = stored(id);
    if (stored.isEmpty()) {
      return Optional.empty();
    }
    return parse(text(stored.get()).orElseThrow(() -> lostOfAgent(id)))
        .file(path)
        .map(
            file -> {
              if (file.sizeBytes() > mostBytes) {
                throw Problem.tooLarge(Text.quote(path), file.sizeBytes(), mostBytes, setting);
              }
              if (file.sizeBytes() == 0) {
                return new byte[0];
              }
              StoredFile pack = stored.get().packs().get(file.pack());
              return files
                  .content(pack, file.offset(), (int) file.sizeBytes())
                  .orElseThrow(() -> lostOfAgent(id));
            });
  }

  /** Whether there is such a bundle. */
  public boolean exists(String id) {
    return stored(id).isPresent();
  }

  /**
   * Creates a bundle.
   *
   * @throws Problem validation_failed, too_large, storage_full, unavailable; conflict: there is no
   *     storage of files
   */
  StoredBundle create(BundleRequest request) {
    files.requireStorage();
    Stored stored =
        request.base() == null
            ? null
            : stored(request.base()).orElseThrow(() -> unknown("/base", request.base()));
    BundleManifest base =
        stored == null
            ? BundleManifest.EMPTY
            : parse(text(stored).orElseThrow(() -> lostBase(request.base())));
    if (stored != null && !areThere(stored.packs())) {
      throw lostBase(request.base());
    }
    for (BundleRequest.Entry entry : request.files()) {
      requireSize(entry.sizeBytes());
    }
    BundleComposition composition = BundleComposition.of(base, request.files(), request.removed());
    requireLimits(composition.manifest());
    new PackCheck(files).check(request.pack(), composition);
    return insert("/base", request.base(), stored, request.pack(), composition);
  }

  /**
   * Creates a bundle that differs from another one in the content of a file.
   *
   * @param path of a file of the other bundle
   * @return its identifier; the other one's, if the file has that content already
   * @throws Problem validation_failed: there is no such bundle or file any more; too_large,
   *     storage_full, unavailable; conflict: there is no storage of files
   */
  public String replace(String id, String path, byte[] bytes) {
    files.requireStorage();
    Stored stored = stored(id).orElseThrow(() -> unknown("/bundle_id", id));
    BundleManifest base = parse(text(stored).orElseThrow(() -> lostOfAgent(id)));
    BundleFile before =
        base.file(path)
            .orElseThrow(() -> Problem.invalid("/script_path", "not_a_choice", noFile(path)));
    String digest = HexFormat.of().formatHex(Text.sha256(bytes));
    if (before.sha256().equals(digest)) {
      return id;
    }
    BundleRequest.Entry entry =
        new BundleRequest.Entry(path, bytes.length, digest, before.executable());
    BundleComposition composition = BundleComposition.of(base, List.of(entry), List.of());
    requireLimits(composition.manifest());
    String pack =
        composition.contents().isEmpty()
            ? null
            : files.store(PACK_NAME, "application/octet-stream", bytes);
    try {
      return insert("/bundle_id", id, stored, pack, composition).id();
    } catch (Problem e) {
      if (pack != null) {
        files.discard(pack);
      }
      throw e;
    }
  }

  private static String noFile(String path) {
    return "The bundle has no file " + Text.quote(path) + ".";
  }

  public static Problem unknown(String pointer, String id) {
    return Problem.invalid(pointer, "not_a_choice", "There is no bundle " + Text.quote(id) + ".");
  }

  /** Whether the storage has the ends of all packs. A loss is usually one of everything. */
  private boolean areThere(List<StoredFile> packs) {
    return packs.stream()
        .allMatch(pack -> files.content(pack, pack.sizeBytes() - 1, 1).isPresent());
  }

  private void requireSize(long sizeBytes) {
    if (sizeBytes > limits.bundleBytes()) {
      throw Problem.tooLarge(
          "The bundle", sizeBytes, limits.bundleBytes(), "roost.limits.bundle-bytes");
    }
  }

  private void requireLimits(BundleManifest manifest) {
    if (manifest.files().size() > limits.bundleFiles()) {
      throw BundleRequest.tooManyFiles(manifest.files().size(), limits);
    }
    requireSize(manifest.sizeBytes());
  }

  /**
   * @param pointer to the base in the request
   */
  private StoredBundle insert(
      String pointer, String base, Stored stored, String pack, BundleComposition composition) {
    String manifest = files.store(MANIFEST_NAME, "application/json", json(composition.manifest()));
    List<String> ids = new ArrayList<>(List.of(manifest));
    composition.basePacks().forEach(number -> ids.add(stored.packs().get(number).id()));
    if (pack != null) {
      ids.add(pack);
    }
    String id = Ids.next("bundle");
    try {
      database.inTransaction(
          connection -> {
            if (base != null && LOCK.with("id", base).strings(connection).isEmpty()) {
              throw unknown(pointer, base);
            }
            keep(connection, pack);
            Files.keep(connection, manifest);
            BundleManifest files = composition.manifest();
            INSERT
                .with("id", id)
                .with("digest", files.sha256())
                .with("files", files.files().size())
                .with("size", files.sizeBytes())
                .update(connection);
            return INSERT_FILES
                .with("id", id)
                .with("files", ids.toArray(String[]::new))
                .update(connection);
          });
    } catch (Problem e) {
      files.discard(manifest);
      throw e;
    }
    return find(id);
  }

  private static void keep(Connection connection, String pack) throws SQLException {
    if (pack == null) {
      return;
    }
    boolean isOfAnother = IS_OF_ANOTHER.with("id", pack).first(connection, row -> true).isPresent();
    if (isOfAnother || !Files.keep(connection, pack)) {
      throw PackCheck.unknown(pack);
    }
  }

  private byte[] json(BundleManifest manifest) {
    try {
      return mapper.writeValueAsBytes(manifest);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Problem lost(String id) {
    return Problem.of(
        ErrorCode.GONE,
        "The storage of files has lost the bundle %s. Deploy the project again."
            .formatted(Text.quote(id)));
  }

  private static Problem lostOfAgent(String id) {
    return Problem.invalid("/bundle_id", "bytes_lost", lost(id).getMessage());
  }

  private static Problem lostBase(String id) {
    return Problem.invalid(
        "/base",
        "bytes_lost",
        "The storage of files has lost bytes of the bundle %s. Send the whole project, without a base."
            .formatted(Text.quote(id)));
  }
}
