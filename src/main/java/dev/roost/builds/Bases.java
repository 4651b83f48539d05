package dev.roost.builds;

import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The current bases of builds: the runtime's base for each Python version. For a base image that
 * the settings name by tag, the base includes the digest from the last lookup.
 */
@ApplicationScoped
public class Bases {
  private static final Duration AGE = Duration.ofSeconds(2);

  private static final Sql ALL =
      Sql.of("select python_version, reference, digest, checked_at, message from base_image");

  private static final Sql NOTE =
      Sql.of(
          """
          insert into base_image (python_version, reference, digest, checked_at, message)
          values (:version, :reference, cast(:digest as text), :now, cast(:message as text))
          on conflict (python_version) do update set
            reference = excluded.reference,
            digest = case when base_image.reference = excluded.reference
              then coalesce(excluded.digest, base_image.digest) else excluded.digest end,
            checked_at = excluded.checked_at, message = excluded.message""");

  private final Runtime runtime;
  private final Database database;
  private final Advisories advisories;
  private final Clock clock;
  private volatile Known known = new Known(Instant.MIN, Map.of());

  Bases(Runtime runtime, Database database, Advisories advisories, Clock clock) {
    this.runtime = runtime;
    this.database = database;
    this.advisories = advisories;
    this.clock = clock;
  }

  /**
   * The result of the last lookup of a base image.
   *
   * @param reference the reference in the settings at that time
   * @param digest null: the image has never been found
   * @param message why the last lookup failed; null: the lookup succeeded
   */
  record Image(
      String pythonVersion, String reference, String digest, Instant checkedAt, String message) {}

  private record Known(Instant readAt, Map<String, Image> images) {}

  /**
   * The identity of the base for builds that start now.
   *
   * @throws Runtime.UnsupportedPython
   */
  public String current(String pythonVersion) {
    String reference = runtime.baseIdentity(pythonVersion);
    return image(pythonVersion)
        .map(image -> image.reference() + "@" + image.digest())
        .orElse(reference);
  }

  /**
   * The inputs of a build that starts now.
   *
   * @param nonce or null
   * @throws Runtime.UnsupportedPython
   */
  public BuildInputs inputs(String pythonVersion, Requirements requirements, String nonce) {
    return BuildInputs.on(current(pythonVersion), runtime, pythonVersion, requirements, nonce);
  }

  /**
   * The inputs that this replica would use for the BuilderJob: on the job's base while the runtime
   * still builds on that base, otherwise on the current base. The image key differs from the job's
   * when the inputs differ.
   *
   * @throws Runtime.UnsupportedPython
   */
  public BuildInputs inputs(BuilderJob job) {
    return job.base != null && runtime.buildsOn(job.pythonVersion, job.base)
        ? BuildInputs.on(job.base, runtime, job.pythonVersion, job.requirements, job.nonce)
        : inputs(job.pythonVersion, job.requirements, job.nonce);
  }

  /**
   * The difference between a Build and a Build created now. Empty when there is no difference, and
   * when the Build's Python version is no longer offered.
   *
   * @param job the BuilderJob that created or reused the Build
   * @param builtOn the Build's base; null: not recorded
   */
  public Optional<Outdated> outdated(BuilderJob job, String builtOn) {
    if (!offers(job.pythonVersion)) {
      return Optional.empty();
    }
    return Outdated.between(
            job,
            builtOn == null ? job.base : builtOn,
            current(job.pythonVersion),
            base -> BuildInputs.on(base, runtime, job.pythonVersion, job.requirements, job.nonce))
        .map(found -> found.with(advisories.fixed(found.base(), found.currentBase())));
  }

  /** Whether the runtime can build for that Python version. */
  public boolean offers(String pythonVersion) {
    return runtime.describe().pythonVersions().contains(pythonVersion);
  }

  /** The image for the reference in the current settings, if its digest is known. */
  private Optional<Image> image(String pythonVersion) {
    String reference = runtime.baseIdentity(pythonVersion);
    return Optional.ofNullable(images().get(pythonVersion))
        .filter(image -> image.reference().equals(reference) && image.digest() != null);
  }

  /** Images by Python version; may be a few seconds old. */
  private Map<String, Image> images() {
    Instant now = clock.instant();
    Known last = known;
    if (last.readAt().plus(AGE).isBefore(now)) {
      last = new Known(now, read());
      known = last;
    }
    return last.images();
  }

  /** Images by Python version, read from the database. */
  Map<String, Image> read() {
    List<Image> images =
        database.once(
            connection ->
                ALL.with()
                    .list(
                        connection,
                        row ->
                            new Image(
                                row.getString("python_version"),
                                row.getString("reference"),
                                row.getString("digest"),
                                row.getTimestamp("checked_at").toInstant(),
                                row.getString("message"))));
    return images.stream().collect(Collectors.toMap(Image::pythonVersion, Function.identity()));
  }

  /**
   * Records the result of a lookup. After a failed lookup, the known digest of the same reference
   * stays.
   */
  void note(String pythonVersion, String reference, String digest, String message) {
    Sql.Bound note =
        NOTE.with("version", pythonVersion)
            .with("reference", reference)
            .with("digest", digest)
            .with("now", clock.instant())
            .with("message", message);
    database.once(note::update);
    known = new Known(Instant.MIN, Map.of());
  }
}
