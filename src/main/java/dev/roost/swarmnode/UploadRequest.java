package dev.roost.swarmnode;

import dev.roost.db.Sql;
import dev.roost.file.LinkSignature;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/**
 * A request to store an asset.
 *
 * @param key signs its URL
 * @param fileId what was uploaded; null: nothing yet
 */
record UploadRequest(
    String id, String assetName, String agentId, byte[] key, String fileId, Instant expiresAt) {
  static final String COLUMNS =
      "r.id, r.asset_name, r.agent_id, r.upload_key, r.file_id, r.expires_at";

  static UploadRequest read(ResultSet row) throws SQLException {
    return new UploadRequest(
        row.getString("id"),
        row.getString("asset_name"),
        row.getString("agent_id"),
        row.getBytes("upload_key"),
        row.getString("file_id"),
        Sql.instant(row, "expires_at"));
  }

  /** The path to which the content is sent, with its query. */
  String path() {
    long end = expiresAt.getEpochSecond();
    return "%s%s/?expires=%d&signature=%s"
        .formatted(
            CompatPaths.UPLOADS,
            CompatIds.STORAGE_REQUEST.uuid(id),
            end,
            LinkSignature.of(key, id, end));
  }

  /**
   * @param expires seconds since 1970, as the URL says
   * @param signature of the URL
   */
  boolean isSigned(long expires, String signature) {
    return LinkSignature.matches(key, id, expires, signature);
  }
}
