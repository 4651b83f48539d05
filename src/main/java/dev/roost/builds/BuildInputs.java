package dev.roost.builds;

import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.SdkWheel;

/**
 * The inputs of a Build. The replica that accepts an agent and the replica that builds may have
 * different settings, for example during a rollout, so the BuilderJob stores the base.
 *
 * @param base the identity of the base (see {@link Bases#current}); null: an earlier version of
 *     Roost created the key and did not record the base
 * @param nonce distinguishes Builds with otherwise equal inputs; or null
 * @param imageKey hash of all inputs
 */
public record BuildInputs(
    String base, String pythonVersion, Requirements requirements, String nonce, String imageKey) {

  /**
   * The inputs on that base, with this replica's SDK if the requirements include the SDK.
   *
   * @param nonce or null
   */
  static BuildInputs on(
      String base, Runtime runtime, String pythonVersion, Requirements requirements, String nonce) {
    String platform = runtime.describe().platform();
    Requirements resolved = SdkWheel.own().resolved(requirements);
    String key = ImageKey.of(base, platform, pythonVersion, resolved, nonce);
    return new BuildInputs(base, pythonVersion, requirements, nonce, key);
  }

  /** The inputs recorded in that BuilderJob. */
  public static BuildInputs of(BuilderJob job) {
    return new BuildInputs(job.base, job.pythonVersion, job.requirements, job.nonce, job.imageKey);
  }
}
