package dev.roost.file;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.PublicUrl;
import dev.roost.config.RoostConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Links that download a file without a key: they are signed, with the time of their end. */
@ApplicationScoped
public class FileLinks {
  private final Files files;
  private final Optional<String> publicUrl;
  private final Clock clock;

  FileLinks(Files files, RoostConfig config, Clock clock) {
    this.files = files;
    this.publicUrl = PublicUrl.of(config);
    this.clock = clock;
  }

  /** A link. */
  @Schema(name = "FileLink")
  record Link(
      @Schema(
              description =
                  "Where the file can be downloaded: a URL if roost.public-url is set, otherwise its path. "
                      + "Whoever has it can download the file",
              examples =
                  "https://roost.example/v1/file-links/file_01m8ftmpefe00a4fg3w0xwawts?expires=1795824000&signature=4e2a51…")
          String url,
      @Schema(description = "When the link ends, at the latest when the file is deleted")
          Instant expiresAt) {}

  /**
   * Makes a link.
   *
   * @throws Problem not_found
   */
  Link make(String id, Duration lifetime) {
    long end = clock.instant().plus(lifetime).getEpochSecond();
    return new Link(publicUrl.orElse("") + path(id, end), Instant.ofEpochSecond(end));
  }

  /**
   * The path of a link, with its query.
   *
   * @throws Problem not_found
   */
  public String path(String id, Duration lifetime) {
    return path(id, clock.instant().plus(lifetime).getEpochSecond());
  }

  private String path(String id, long end) {
    StoredFile file = files.find(id);
    return "/v1/file-links/%s?expires=%d&signature=%s"
        .formatted(id, end, LinkSignature.of(file.linkKey(), id, end));
  }

  /**
   * The file of a link.
   *
   * @param expires seconds since 1970
   * @param signature null: there is none
   * @throws Problem not_found: the link has ended, or is not one of this file
   */
  StoredFile open(String id, long expires, String signature) {
    if (signature == null || expires <= clock.instant().getEpochSecond()) {
      throw ended();
    }
    StoredFile file = files.findIfAny(id).orElseThrow(FileLinks::ended);
    if (!LinkSignature.matches(file.linkKey(), id, expires, signature)) {
      throw ended();
    }
    return file;
  }

  private static Problem ended() {
    return Problem.of(
        ErrorCode.NOT_FOUND, "The link has ended, or is incomplete. Ask for another one.");
  }
}
