package dev.roost.builds;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * How a Build differs from the one that would be made now of the same requirements.
 *
 * @param base that it was made on; null: an earlier version of Roost did not write it down
 * @param currentBase that it would be made on now
 * @param fixes what is wrong with the one and not with the other
 */
@Schema(name = "Outdated")
public record Outdated(
    @Schema(description = "What is newer; a rollout or a rebuild brings it to the agent")
        List<Reason> reasons,
    @Schema(
            nullable = true,
            description =
                "What the Build was made on: an image, by digest once that is known, or an"
                    + " interpreter; null: an earlier version of Roost did not write it down")
        String base,
    @Schema(description = "What it would be made on now") String currentBase,
    @Schema(description = "What the current base fixes, as far as roost.rollouts.advisories tells")
        List<Advisories.Advisory> fixes) {
  private static final String DIGEST = "@sha256:";

  /** What is newer. */
  @Schema(
      type = SchemaType.STRING,
      enumeration = {"base", "sdk"})
  public enum Reason {
    /** The base image, or the interpreter. */
    @JsonProperty("base")
    BASE,
    /** Roost's SDK, which the agent requires in no certain version. */
    @JsonProperty("sdk")
    SDK
  }

  /**
   * @param builtOn the base, or null
   * @param current the base that a build gets now
   * @param on what goes in now on a base
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
   * Of images whose digests are both known, the digests decide: a mirror has another name. A base
   * by tag is taken for the one that the tag named, as long as nothing is known of the tag now.
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
