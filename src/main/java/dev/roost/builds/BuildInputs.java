package dev.roost.builds;

import dev.roost.runtime.Runtime;
import dev.roost.runtime.SdkWheel;
import java.util.List;

/**
 * What goes into a Build. The replica that accepts an agent and the one that builds may have other
 * settings, during a rollout for example, so the base travels with the BuilderJob.
 *
 * @param base what identifies the base (see {@link Bases#current}); null: an earlier version of
 *     Roost made the key, and did not write it down
 * @param requirements normalised and sorted
 * @param nonce tells apart what would be the same otherwise; or null
 * @param imageKey names all of it
 */
public record BuildInputs(
    String base, String pythonVersion, List<String> requirements, String nonce, String imageKey) {

  /**
   * What goes in on that base: with this replica's SDK where that is required.
   *
   * @param requirements normalised and sorted
   * @param nonce or null
   */
  static BuildInputs on(
      String base, Runtime runtime, String pythonVersion, List<String> requirements, String nonce) {
    String platform = runtime.describe().platform();
    List<String> resolved = SdkWheel.own().resolved(requirements);
    String key = ImageKey.of(base, platform, pythonVersion, resolved, nonce);
    return new BuildInputs(base, pythonVersion, requirements, nonce, key);
  }

  /** What was to go into the Build of that BuilderJob. */
  public static BuildInputs of(BuilderJob job) {
    return new BuildInputs(
        job.base, job.pythonVersion, job.requirements.lines().toList(), job.nonce, job.imageKey);
  }
}
