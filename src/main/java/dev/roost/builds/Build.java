package dev.roost.builds;

import dev.roost.api.JsonText;
import dev.roost.api.Page;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.panache.common.Parameters;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The result of a successful BuilderJob: an environment with the dependencies, named by its inputs.
 * Changes only when a lost or removed environment is built again.
 */
@Entity(name = "build")
public class Build extends PanacheEntityBase {
  @Id public String id;
  public String imageKey;
  public String image;
  public String pythonVersion;

  /**
   * The base of the build: an image by digest, or the identity of the interpreter; null: an earlier
   * version of Roost did not record the base.
   */
  public String base;

  /** A JSON list of {@link Installed}. */
  public String packages;

  public long sizeBytes;
  public double durationSeconds;
  public Instant createdAt;

  /**
   * When a rollout last switched an agent from this Build to another; the rollout may be undone.
   */
  public Instant replacedAt;

  /** When the Build went out of use; null while the Build is usable. */
  public Instant removedAt;

  /** Of the image or environment; null: there is nothing to remove. */
  @Enumerated(EnumType.STRING)
  public RemovalState removal;

  /**
   * The usable Build of that key. A lock prevents its removal until the transaction ends; by then
   * the caller has recorded that it uses the Build.
   */
  static Optional<Build> ofKey(String imageKey) {
    return locked(imageKey, LockModeType.PESSIMISTIC_READ).filter(build -> build.removedAt == null);
  }

  /** The Build of that key, even a removed one, locked for a rebuild. */
  static Optional<Build> toRemake(String imageKey) {
    return locked(imageKey, LockModeType.PESSIMISTIC_WRITE);
  }

  /** Whether the environment is being removed: the removal might also delete a new environment. */
  static boolean isGoing(String imageKey) {
    return locked(imageKey, LockModeType.PESSIMISTIC_READ)
        .filter(build -> build.removal == RemovalState.BEGUN)
        .isPresent();
  }

  /**
   * Selects by the key alone, so that the query waits for transactions that change other columns.
   */
  private static Optional<Build> locked(String imageKey, LockModeType mode) {
    return Build.<Build>find("imageKey", imageKey).withLock(mode).firstResultOptional();
  }

  /** Records the result of a rebuild after the environment was lost or removed. */
  Build rebuilt(String newImage, String newBase, String newPackages, long newSizeBytes) {
    image = newImage;
    base = newBase;
    packages = newPackages;
    sizeBytes = newSizeBytes;
    removedAt = null;
    removal = null;
    persistAndFlush(); // Hibernate would not flush this before the update that follows.
    return this;
  }

  /** Records that a rollout switched an agent away from this BuilderJob's Build. */
  public static void replaced(String builderJobId, Instant now) {
    update(
        "replacedAt = ?1 where id = (select j.buildId from builder_job j where j.id = ?2)",
        now,
        builderJobId);
  }

  static Page<View> page(String agentId, String cursor, int limit) {
    return Page.of(
        Build.<Build>find(
                """
                from build b
                where (:cursor is null or b.id < :cursor)
                  and (:agent is null or exists (
                    select 1 from builder_job j where j.buildId = b.id and j.agentId = :agent))
                order by b.id desc""",
                Parameters.with("cursor", cursor).and("agent", agentId))
            .range(0, limit)
            .list(),
        limit,
        build -> build.id,
        View::of);
  }

  /** The schema of an installed distribution, an element of {@link #packages}. */
  @Schema(name = "Package")
  record Installed(
      @Schema(description = "The name as the package spells it", examples = "Jinja2") String name,
      @Schema(description = "The installed version", examples = "3.1.4") String version,
      @Schema(description = "The size of the downloaded file") String sha256,
      @Schema(
              nullable = true,
              description = "The size of the installed files; null in older Builds")
          Long sizeBytes) {}

  /**
   * A Build in API responses.
   *
   * @param image reference by digest; null on the local runtime
   * @param packages installed distributions: name, version, SHA-256 of the package file, installed
   *     size
   * @param duration seconds
   * @param removedAt when the removal of the image or environment began; null while the Build is
   *     usable
   */
  @Schema(name = "Build")
  public record View(
      String id,
      @Schema(
              description =
                  "SHA-256, in hexadecimal, of the build's inputs: base, platform, Python version and "
                      + "requirements. Agents with equal inputs share a Build")
          String imageKey,
      @Schema(
              nullable = true,
              description =
                  "The image reference, by digest; null on the local runtime, which creates an environment")
          String image,
      @Schema(examples = "3.13", description = "Python minor version") String pythonVersion,
      @Schema(
              nullable = true,
              description =
                  "The base of the Build: the base image, by digest, or the identity of the interpreter; "
                      + "null if an earlier version of Roost did not record it")
          String base,
      @Schema(
              type = SchemaType.ARRAY,
              implementation = Installed.class,
              description = "All installed packages, including dependencies, ordered by name")
          JsonText packages,
      @Schema(
              description =
                  "The size in bytes of the environment, or of the packages that the image adds to its base")
          long sizeBytes,
      @Schema(description = "The duration of the build in seconds") double duration,
      Instant createdAt,
      @Schema(
              nullable = true,
              description =
                  "When the removal of its image or environment began; null if the Build can be used")
          Instant removedAt) {
    static View of(Build build) {
      return new View(
          build.id,
          build.imageKey,
          build.image,
          build.pythonVersion,
          build.base,
          new JsonText(build.packages),
          build.sizeBytes,
          build.durationSeconds,
          build.createdAt,
          build.removedAt);
    }
  }
}
