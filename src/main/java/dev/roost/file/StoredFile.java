package dev.roost.file;

import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HexFormat;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A file's row.
 *
 * @param sizeBytes of the parts that are there
 * @param parts how many of them there are, from 0 on
 * @param sha256 hexadecimal; null while it is uploaded, or if nobody has computed it
 * @param executionId that makes it; null: a client has uploaded it
 * @param linkKey signs its links
 */
public record StoredFile(
    String id,
    String name,
    String contentType,
    FileState state,
    long sizeBytes,
    int parts,
    String sha256,
    String executionId,
    byte[] linkKey,
    Instant createdAt) {
  /** Of each part but the last one, which may have less. */
  public static final int PART_BYTES = 4 << 20;

  /** What {@link #read} reads of a file {@code f}. */
  public static final String COLUMNS =
      "f.id, f.name, f.content_type, f.state, f.size_bytes, f.parts, f.sha256, f.execution_id, f.link_key, f.created_at";

  public static StoredFile read(ResultSet row) throws SQLException {
    byte[] digest = row.getBytes("sha256");
    return new StoredFile(
        row.getString("id"),
        row.getString("name"),
        row.getString("content_type"),
        Code.parse(FileState.class, row.getString("state")),
        row.getLong("size_bytes"),
        row.getInt("parts"),
        digest == null ? null : HexFormat.of().formatHex(digest),
        row.getString("execution_id"),
        row.getBytes("link_key"),
        Sql.instant(row, "created_at"));
  }

  /** The key of a part in the storage. */
  static String key(String id, int part) {
    return id + "/" + part;
  }

  /** As clients see it. */
  @Schema(name = "File")
  public record View(
      @Schema(examples = "file_01m8ftmpefe00a4fg3w0xwawts") String id,
      @Schema(description = "Its name, without a path", examples = "report.csv") String name,
      @Schema(description = "Its media type", examples = "text/csv") String contentType,
      @Schema(description = "uploading until all of its parts are there, then stored")
          FileState state,
      @Schema(description = "The size of the parts that are there") long sizeBytes,
      @Schema(
              nullable = true,
              description =
                  "The SHA-256 digest, hexadecimal, as whoever sent the file has computed it; or null")
          String sha256,
      Instant createdAt) {}

  public View view() {
    return new View(id, name, contentType, state, sizeBytes, sha256, createdAt);
  }
}
