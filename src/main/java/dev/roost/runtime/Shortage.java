package dev.roost.runtime;

import java.util.Set;

/**
 * What a build or an executor lacks now and may get once another one has ended.
 *
 * @param byQuota whether a configured limit is reached; otherwise no machine has enough
 * @param resources as the runtime names them, for example "pods", "memory", "nvidia.com/gpu"
 */
public record Shortage(boolean byQuota, Set<String> resources) {
  public Shortage {
    resources = Set.copyOf(resources);
  }

  /** Whether only the number of pods or Jobs is short, regardless of their size. */
  public boolean isOfAnySize() {
    return byQuota
        && resources.stream().allMatch(one -> one.equals("pods") || one.startsWith("count/"));
  }
}
