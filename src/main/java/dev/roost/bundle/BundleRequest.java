package dev.roost.bundle;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The validated fields of a request that creates a bundle.
 *
 * @param base the bundle from which it differs; null: from an empty one
 * @param pack the file with the bytes of the entries; null: none needs bytes
 * @param files that are new or differ from the base's
 * @param removed paths of the base
 */
record BundleRequest(String base, String pack, List<Entry> files, List<String> removed) {
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  /**
   * A file of the new bundle.
   *
   * @param sha256 of its content
   */
  record Entry(String path, long sizeBytes, String sha256, boolean executable) {}

  /**
   * @throws Problem malformed_json, validation_failed, too_large
   */
  static BundleRequest read(byte[] bytes, RoostConfig.Limits limits) {
    Body body = Body.parse(bytes);
    int count = body.isNull("files") ? 0 : body.list("files").map(Body.Elements::count).orElse(0);
    if (count > limits.bundleFiles()) {
      throw tooManyFiles(count, limits);
    }
    body.require("files");
    BundleRequest request =
        new BundleRequest(
            nullable(body, "base"),
            nullable(body, "pack"),
            count == 0 ? List.of() : body.objects("files", BundleRequest::entry).orElse(List.of()),
            body.isNull("removed") ? List.of() : body.strings("removed").orElse(List.of()));
    body.check();
    return request;
  }

  private static String nullable(Body body, String name) {
    return body.isNull(name) ? null : body.string(name).orElse(null);
  }

  private static Entry entry(Body body) {
    List.of("path", "size_bytes", "sha256").forEach(body::require);
    Optional<String> path = body.string("path");
    path.flatMap(BundlePaths::mistake).ifPresent(why -> body.reject("path", "malformed", why));
    Optional<String> digest = body.string("sha256");
    digest
        .filter(text -> !SHA256.matcher(text).matches())
        .ifPresent(
            text ->
                body.reject(
                    "sha256", "malformed", "sha256 must be 64 lower-case hexadecimal digits."));
    return new Entry(
        path.orElse(""),
        body.wholeNumber("size_bytes").orElse(0L),
        digest.orElse(""),
        body.bool("executable").orElse(false));
  }

  static Problem tooManyFiles(int count, RoostConfig.Limits limits) {
    return Problem.of(
        ErrorCode.TOO_LARGE,
        "The bundle has %,d files; the limit is %,d (setting roost.limits.bundle-files)."
            .formatted(count, limits.bundleFiles()));
  }
}
