package dev.roost.bundle;

import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HexFormat;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A bundle, as clients see it. */
@Schema(name = "Bundle")
public record StoredBundle(
    @Schema(examples = "bundle_01m8ftmpefe00a4fg3w0xwawts") String id,
    @Schema(
            description =
                "The SHA-256 digest of its list of files, hexadecimal: of a line with sha256, x or -, and "
                    + "path for each file, with a space between them, sorted by the bytes of the paths. x is an "
                    + "executable file")
        String sha256,
    @Schema(description = "How many files it has") int files,
    @Schema(description = "The size of its files together") long sizeBytes,
    @Schema(description = "How many packs have its bytes") int packs,
    @Schema(
            description =
                "The size of its packs together, which may have bytes that this bundle doesn't need")
        long storedBytes,
    Instant createdAt) {

  static final Sql FIND =
      Sql.of(
          """
          select b.id, b.sha256, b.files, b.size_bytes, b.created_at, count(f.id) as packs,
            coalesce(sum(f.size_bytes), 0)::bigint as stored_bytes
          from bundle b
          left join bundle_file p on p.bundle_id = b.id and p.number > 0
          left join file f on f.id = p.file_id
          where b.id = :id group by b.id""");

  static StoredBundle read(ResultSet row) throws SQLException {
    return new StoredBundle(
        row.getString("id"),
        HexFormat.of().formatHex(row.getBytes("sha256")),
        row.getInt("files"),
        row.getLong("size_bytes"),
        row.getInt("packs"),
        row.getLong("stored_bytes"),
        Sql.instant(row, "created_at"));
  }
}
