package dev.roost.builds;

import dev.roost.api.JsonText;
import dev.roost.api.Page;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.panache.common.Parameters;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * What a successful BuilderJob made: an environment with the dependencies, named by what went in.
 * Changes only when it was lost or removed and is made again.
 */
@Entity(name = "build")
public class Build extends PanacheEntityBase {
  @Id public String id;
  public String imageKey;
  public String image;
  public String pythonVersion;

  /**
   * What it was made on: an image by digest, or what identifies the interpreter; null: an earlier
   * version of Roost did not write it down.
   */
  public String base;

  /** A JSON list of {@link Installed}. */
  public String packages;

  public long sizeBytes;
  public double durationSeconds;
  public Instant createdAt;

  /** When a rollout last had an agent use another one; it may be undone. */
  public Instant replacedAt;

  /** Since then it is not used any more; null for one that is. */
  public Instant removedAt;

  /**
   * Of its image or environment: "due", "begun" (no build of its key may begin) or null, when there
   * is none to do.
   */
  public String removal;

  /**
   * The Build of that key that can be used, kept from being removed until the transaction ends: by
   * then whoever uses it has written that down.
   */
  static Optional<Build> ofKey(String imageKey) {
    return locked(imageKey, LockModeType.PESSIMISTIC_READ).filter(build -> build.removedAt == null);
  }

  /** The Build of that key, to be made again; a removed one, too. */
  static Optional<Build> toRemake(String imageKey) {
    return locked(imageKey, LockModeType.PESSIMISTIC_WRITE);
  }

  /** Whether what it names is just being removed: what is made now might be removed with it. */
  static boolean isGoing(String imageKey) {
    return locked(imageKey, LockModeType.PESSIMISTIC_READ)
        .filter(build -> "begun".equals(build.removal))
        .isPresent();
  }

  /** By the key alone, so that it waits for whoever changes the rest. */
  private static Optional<Build> locked(String imageKey, LockModeType mode) {
    return Build.<Build>find("imageKey", imageKey).withLock(mode).firstResultOptional();
  }

  /** It was made again, since what it named was gone: this is what it names now. */
  Build remade(String newImage, String newBase, String newPackages, long newSizeBytes) {
    image = newImage;
    base = newBase;
    packages = newPackages;
    sizeBytes = newSizeBytes;
    removedAt = null;
    removal = null;
    persistAndFlush(); // the update that follows is one that Hibernate would not flush this for
    return this;
  }

  /** A rollout has an agent use another Build than that of this BuilderJob. */
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

  /** A distribution that is installed: what {@link #packages} holds, for its schema. */
  @Schema(name = "Package")
  record Installed(
      @Schema(description = "As the package itself writes it", examples = "Jinja2") String name,
      @Schema(description = "The one that was installed", examples = "3.1.4") String version,
      @Schema(description = "Of the file that it came from") String sha256,
      @Schema(nullable = true, description = "Of the installed files; null: of an older Build")
          Long sizeBytes) {}

  /**
   * A Build, as the API shows it.
   *
   * @param image reference by digest; null on the local runtime
   * @param packages every distribution that is installed: name, version, SHA-256 of the file it
   *     came from, size of what is installed
   * @param duration seconds
   * @param removedAt since when image or environment are gone, or going; null while it can be used
   */
  @Schema(name = "Build")
  public record View(
      String id,
      @Schema(
              description =
                  "What went in, as a SHA-256 in hexadecimal digits: base, platform, Python"
                      + " version and requirements. Agents that need the same share a Build")
          String imageKey,
      @Schema(
              nullable = true,
              description =
                  "Reference of the image, by digest; null: on the local runtime, an environment")
          String image,
      @Schema(examples = "3.13", description = "Minor version of Python") String pythonVersion,
      @Schema(
              nullable = true,
              description =
                  "What it was made on: the base image, by digest, or what identifies the"
                      + " interpreter; null: an earlier version of Roost did not write it down")
          String base,
      @Schema(
              type = SchemaType.ARRAY,
              implementation = Installed.class,
              description = "Every package that is installed, also those that others need, by name")
          JsonText packages,
      @Schema(
              description =
                  "Bytes of the environment, or of the packages that the image adds to its base")
          long sizeBytes,
      @Schema(description = "Seconds that the first build of it took") double duration,
      Instant createdAt,
      @Schema(
              nullable = true,
              description =
                  "Since when its image or environment is gone, or going; null: it can be used")
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
