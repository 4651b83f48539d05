package dev.roost.build;

import dev.roost.runtime.Runtime;
import dev.roost.runtime.SdkWheel;
import java.util.List;

/**
 * What goes into a Build. The replica that accepts an agent and the one that builds may have other
 * settings, during a rollout for example, so the base travels with the BuilderJob.
 *
 * @param base what the runtime says identifies the base (see {@link Runtime#baseIdentity}); null:
 *     an earlier version of Roost made the key, and did not write it down
 * @param requirements normalised and sorted
 * @param imageKey names all of it
 */
public record BuildInputs(
    String base, String pythonVersion, List<String> requirements, String imageKey) {

  /**
   * What would be built now: with this replica's base, and its SDK where that is required.
   *
   * @param requirements normalised and sorted
   */
  public static BuildInputs now(Runtime runtime, String pythonVersion, List<String> requirements) {
    return on(runtime.baseIdentity(pythonVersion), runtime, pythonVersion, requirements);
  }

  /** What went into the one that the BuilderJob ordered. */
  public static BuildInputs of(BuilderJob job) {
    List<String> requirements = job.requirements.lines().toList();
    return new BuildInputs(job.base, job.pythonVersion, requirements, job.imageKey);
  }

  /**
   * What this replica would build for the BuilderJob: on its base, as long as that can be had. The
   * key is another one than the job's where something else would go in.
   */
  static BuildInputs here(Runtime runtime, BuilderJob job) {
    List<String> requirements = job.requirements.lines().toList();
    return job.base != null && runtime.buildsOn(job.pythonVersion, job.base)
        ? on(job.base, runtime, job.pythonVersion, requirements)
        : now(runtime, job.pythonVersion, requirements);
  }

  private static BuildInputs on(
      String base, Runtime runtime, String pythonVersion, List<String> requirements) {
    String platform = runtime.describe().platform();
    List<String> resolved = SdkWheel.own().resolved(requirements);
    String key = ImageKey.of(base, platform, pythonVersion, resolved);
    return new BuildInputs(base, pythonVersion, requirements, key);
  }
}
