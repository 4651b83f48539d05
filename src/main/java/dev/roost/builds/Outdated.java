package dev.roost.builds;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * How a Build differs from a Build created now with the same requirements.
 *
 * @param base the base of the Build; null: an earlier version of Roost did not record the base
 * @param currentBase the base of a Build created now
 * @param fixes advisories of the Build's base that the current base fixes
 */
@Schema(name = "Outdated")
public record Outdated(
    @Schema(description = "What is newer. A rollout or a rebuild updates the agent")
        List<Reason> reasons,
    @Schema(
            nullable = true,
            description =
                "The base of the Build: an image, by digest once the digest is known, or an interpreter; "
                    + "null if an earlier version of Roost did not record it")
        String base,
    @Schema(description = "The current base") String currentBase,
    @Schema(description = "Advisories of roost.rollouts.advisories that the current base fixes")
        List<Advisories.Advisory> fixes) {
  private static final String DIGEST = "@sha256:";

  /** What has a newer version. */
  @Schema(
      name = "OutdatedReason",
      type = SchemaType.STRING,
      enumeration = {"base", "sdk"})
  public enum Reason {
    /** The base image, or the interpreter. */
    @JsonProperty("base")
    BASE,
    /** Roost's SDK, which the agent requires without a version. */
    @JsonProperty("sdk")
    SDK
  }

  /**
   * @param builtOn the base, or null
   * @param current the current base
   * @param on the current inputs for a given base
   */
  static Optional<Outdated> between(
      BuilderJob job, String builtOn, String current, Function<String, BuildInputs> on) {
    if (on.apply(current).imageKey().equals(job.imageKey)) {
      return Optional.empty();
    }
    List<Reason> reasons = new ArrayList<>();
    if (builtOn == null || !isSame(builtOn, current)) {
      reasons.add(Reason.BASE);
    }
    if (job.base != null && !on.apply(job.base).imageKey().equals(job.imageKey)) {
      reasons.add(Reason.SDK);
    }
    return reasons.isEmpty()
        ? Optional.empty()
        : Optional.of(new Outdated(reasons, builtOn, current, List.of()));
  }

  Outdated with(List<Advisories.Advisory> known) {
    return new Outdated(reasons, base, currentBase, known);
  }

  /**
   * When both digests are known, the digests decide, because a mirror has another name. While the
   * current digest of a tag is unknown, two bases with the same tag are equal.
   */
  static boolean isSame(String builtOn, String current) {
    String built = digest(builtOn);
    String now = digest(current);
    if (built != null && now != null) {
      return built.equals(now);
    }
    return now == null && reference(builtOn).equals(reference(current));
  }

  private static String digest(String base) {
    int at = base.indexOf(DIGEST);
    return at < 0 ? null : base.substring(at);
  }

  private static String reference(String base) {
    int at = base.indexOf(DIGEST);
    return at < 0 ? base : base.substring(0, at);
  }
}
