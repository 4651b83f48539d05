package dev.roost.runtime.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.SeccompProfile;
import io.fabric8.kubernetes.api.model.SeccompProfileBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A kind of pod for scripts, which the operator offers under a name; each field as in a pod.
 *
 * @param runtimeClassName for example of gVisor or Kata Containers; null: the cluster's default
 * @param hostUsers false: root in the pod is an unprivileged user outside; null: the cluster's
 *     default
 * @param nodeSelector in addition to that of all pods
 * @param tolerations in addition to those of all pods
 * @param priorityClassName null: the cluster's default
 * @param extendedResources of a script's container, for example {@code nvidia.com/gpu: 1}
 * @param ephemeralStorage of a script's container; null: the disk limit of an execution
 * @param cpuLimit cores of a script's container; replaces the agent's cpu as the limit, but not as
 *     the request; null: the agent's cpu
 * @param maxMemoryMib the most that an agent may request; null: the general limit
 * @param maxCpu the most cores that an agent may request; null: the general limit
 */
record PodProfile(
    String runtimeClassName,
    Boolean hostUsers,
    SeccompProfile seccompProfile,
    Map<String, String> nodeSelector,
    List<Toleration> tolerations,
    String priorityClassName,
    Map<String, Integer> extendedResources,
    EphemeralStorage ephemeralStorage,
    Double cpuLimit,
    Integer maxMemoryMib,
    Double maxCpu) {
  /** For agents that choose no profile, and for builds. */
  static final String DEFAULT = "default";

  private static final String SETTING = "roost.kubernetes.profiles";
  private static final SeccompProfile RUNTIME_DEFAULT =
      new SeccompProfileBuilder().withType("RuntimeDefault").build();

  /** The name of a device plug-in's resource has its vendor as a prefix. */
  private static final Pattern EXTENDED =
      Pattern.compile(
          "[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

  static final PodProfile PLAIN =
      new PodProfile(null, null, null, null, null, null, null, null, null, null, null);

  /**
   * @param requestMib null: a small default, as without a profile
   * @param limitMib null: the disk limit of an execution
   */
  record EphemeralStorage(Integer requestMib, Integer limitMib) {
    private boolean isValid() {
      return isPositive(requestMib)
          && isPositive(limitMib)
          && (requestMib == null || limitMib == null || requestMib <= limitMib);
    }
  }

  PodProfile {
    seccompProfile = seccompProfile == null ? RUNTIME_DEFAULT : seccompProfile;
    nodeSelector = nodeSelector == null ? Map.of() : Map.copyOf(nodeSelector);
    tolerations = tolerations == null ? List.of() : List.copyOf(tolerations);
    extendedResources = extendedResources == null ? Map.of() : new TreeMap<>(extendedResources);
    ephemeralStorage =
        ephemeralStorage == null ? new EphemeralStorage(null, null) : ephemeralStorage;
  }

  private static boolean isPositive(Number value) {
    return value == null || value.doubleValue() > 0;
  }

  /**
   * Parses the setting.
   *
   * @throws IllegalArgumentException with the setting's name and the error
   */
  static Map<String, PodProfile> all(String json) {
    Map<String, PodProfile> profiles;
    try {
      profiles = new ObjectMapper().readValue(json, new TypeReference<>() {});
    } catch (JsonProcessingException | NullPointerException e) {
      String why = e instanceof JsonProcessingException wrong ? wrong.getOriginalMessage() : "null";
      throw new IllegalArgumentException(SETTING + " cannot be read: " + why, e);
    }
    if (profiles == null) {
      throw new IllegalArgumentException(SETTING + " is not a JSON object");
    }
    profiles.forEach(
        (name, profile) -> {
          if (!name.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")) {
            throw new IllegalArgumentException(
                SETTING + ": the name \"" + name + "\" must consist of a-z, 0-9 and hyphens");
          }
          if (profile == null || !profile.isRestricted()) {
            throw new IllegalArgumentException(
                SETTING
                    + "."
                    + name
                    + ": seccompProfile must be {type: RuntimeDefault} or {type: Localhost, localhostProfile: "
                    + "…}, and tolerations must have the form of a pod's tolerations");
          }
          if (!profile.hasValidResources()) {
            throw new IllegalArgumentException(
                SETTING
                    + "."
                    + name
                    + ": extendedResources must map names such as nvidia.com/gpu to counts; these counts, "
                    + "cpuLimit, maxMemoryMib, maxCpu and the MiB of ephemeralStorage must be greater than 0, "
                    + "and a request must not exceed its limit");
          }
        });
    return new TreeMap<>(profiles);
  }

  private boolean hasValidResources() {
    return isPositive(cpuLimit)
        && isPositive(maxMemoryMib)
        && isPositive(maxCpu)
        && ephemeralStorage.isValid()
        && extendedResources.entrySet().stream()
            .allMatch(
                one ->
                    EXTENDED.matcher(one.getKey()).matches()
                        && !one.getKey().startsWith("kubernetes.io/")
                        && one.getValue() != null
                        && one.getValue() > 0);
  }

  /** Whether the end of a pod of another profile can free node capacity for a pod of this one. */
  boolean isHelpedBy(PodProfile other, Set<String> lacking) {
    boolean extended = lacking.stream().allMatch(one -> one.contains("/"));
    return mayShareNodesWith(other)
        && (!extended || lacking.stream().anyMatch(other.extendedResources::containsKey));
  }

  /** False: the profiles' node selectors exclude each other. */
  private boolean mayShareNodesWith(PodProfile other) {
    return nodeSelector.entrySet().stream()
        .allMatch(
            label ->
                label
                    .getValue()
                    .equals(other.nodeSelector.getOrDefault(label.getKey(), label.getValue())));
  }

  /** Whether Pod Security's level "restricted" admits the profile, and no field is misspelt. */
  private boolean isRestricted() {
    String file = seccompProfile.getLocalhostProfile();
    boolean known =
        switch (String.valueOf(seccompProfile.getType())) {
          case "RuntimeDefault" -> file == null;
          case "Localhost" -> file != null && !file.isBlank();
          default -> false;
        };
    return known
        && seccompProfile.getAdditionalProperties().isEmpty()
        && tolerations.stream().allMatch(one -> one.getAdditionalProperties().isEmpty());
  }
}
