package dev.roost.runtime.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.SeccompProfile;
import io.fabric8.kubernetes.api.model.SeccompProfileBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * In which kind of pod scripts run: what the operator offers by a name, each field as in a pod.
 *
 * @param runtimeClassName for example of gVisor or Kata Containers; null: the cluster's default
 * @param hostUsers false: root in the pod is nobody outside; null: the cluster's default
 * @param nodeSelector besides those of all pods
 * @param tolerations besides those of all pods
 */
record PodProfile(
    String runtimeClassName,
    Boolean hostUsers,
    SeccompProfile seccompProfile,
    Map<String, String> nodeSelector,
    List<Toleration> tolerations) {
  /** The one of agents that choose none, and of builds. */
  static final String DEFAULT = "default";

  private static final String SETTING = "roost.kubernetes.profiles";
  private static final SeccompProfile RUNTIME_DEFAULT =
      new SeccompProfileBuilder().withType("RuntimeDefault").build();

  static final PodProfile PLAIN = new PodProfile(null, null, null, null, null);

  PodProfile {
    seccompProfile = seccompProfile == null ? RUNTIME_DEFAULT : seccompProfile;
    nodeSelector = nodeSelector == null ? Map.of() : Map.copyOf(nodeSelector);
    tolerations = tolerations == null ? List.of() : List.copyOf(tolerations);
  }

  /**
   * Reads the setting.
   *
   * @throws IllegalArgumentException naming the setting and what is wrong
   */
  static Map<String, PodProfile> all(String json) {
    Map<String, PodProfile> profiles;
    try {
      profiles = new ObjectMapper().readValue(json, new TypeReference<>() {});
    } catch (JsonProcessingException | NullPointerException e) {
      String why = e instanceof JsonProcessingException wrong ? wrong.getOriginalMessage() : "null";
      throw new IllegalArgumentException(SETTING + " can't be read: " + why, e);
    }
    if (profiles == null) {
      throw new IllegalArgumentException(SETTING + " is no JSON object");
    }
    profiles.forEach(
        (name, profile) -> {
          if (!name.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")) {
            throw new IllegalArgumentException(
                SETTING + ": the name \"" + name + "\" is not of a-z, 0-9 and hyphens");
          }
          if (profile == null || !profile.isRestricted()) {
            throw new IllegalArgumentException(
                SETTING
                    + "."
                    + name
                    + ": seccompProfile must be {type: RuntimeDefault} or {type: Localhost,"
                    + " localhostProfile: …}, and tolerations as in a pod");
          }
        });
    return new TreeMap<>(profiles);
  }

  /** False: a node that takes pods of the one takes none of the other. */
  boolean mayShareNodesWith(PodProfile other) {
    return nodeSelector.entrySet().stream()
        .allMatch(
            label ->
                label
                    .getValue()
                    .equals(other.nodeSelector.getOrDefault(label.getKey(), label.getValue())));
  }

  /** Whether Pod Security's level "restricted" lets it in, and nothing in it is misspelt. */
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
