package dev.roost.runtime.kubernetes;

import dev.roost.config.RoostConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.HashMap;
import java.util.Map;

/** TestPodSettings made by hand, for tests without Quarkus. */
final class TestPodSettings {
  /** Those without which the runtime doesn't start. */
  private static final Map<String, String> NEEDED =
      Map.of(
          "roost.data", "/nowhere",
          "roost.kubernetes.executor-url", "http://roost-internal.roost.svc:8081",
          "roost.kubernetes.repository", "registry.example.org/roost/agents");

  static final Map<String, String> EVERYTHING =
      Map.ofEntries(
          Map.entry("roost.builds.index-url", "https://pypi.example.org/simple"),
          Map.entry("roost.executors.grace", "25s"),
          Map.entry("roost.limits.work-directory-mib", "2048"),
          Map.entry("roost.kubernetes.namespace", "agents-of-a-team"),
          Map.entry("roost.kubernetes.instance", "team-a"),
          Map.entry("roost.kubernetes.pull-repository", "mirror.example.org/agents"),
          Map.entry("roost.kubernetes.insecure-registry", "true"),
          Map.entry("roost.kubernetes.registry-secret", "registry-credentials"),
          Map.entry("roost.kubernetes.image-pull-secrets", "pull-one,pull-two"),
          Map.entry("roost.kubernetes.index-secret", "index-credentials"),
          Map.entry("roost.kubernetes.ca-config-map", "company-authorities"),
          Map.entry("roost.kubernetes.builder-image", "registry.example.org/roost/builder:9"),
          Map.entry("roost.kubernetes.executor-image", "registry.example.org/roost/executor:9"),
          Map.entry("roost.kubernetes.platform", "linux/arm64"),
          Map.entry("roost.kubernetes.service-account", "agents"),
          Map.entry("roost.kubernetes.node-selector.\"kubernetes.io/arch\"", "arm64"),
          Map.entry("roost.kubernetes.node-selector.pool", "agents"),
          Map.entry(
              "roost.kubernetes.tolerations",
              "[{\"key\": \"agents\", \"operator\": \"Exists\", \"effect\": \"NoSchedule\"}]"),
          Map.entry(
              "roost.kubernetes.profiles",
              """
              {"default": {"hostUsers": false},
               "gpu": {"extendedResources": {"nvidia.com/gpu": 2}, "priorityClassName": "batch",
                       "ephemeralStorage": {"requestMib": 4096, "limitMib": 8192}, "cpuLimit": 4,
                       "nodeSelector": {"accelerator": "nvidia"}, "maxMemoryMib": 65536, "maxCpu": 8},
               "gvisor": {"runtimeClassName": "gvisor", "hostUsers": false,
                          "seccompProfile": {"type": "Localhost", "localhostProfile": "roost.json"},
                          "nodeSelector": {"sandbox": "gvisor"},
                          "tolerations": [{"key": "gvisor", "operator": "Exists"}]}}"""),
          Map.entry("roost.kubernetes.executor-url", "https://roost-internal.roost.svc:8081"),
          Map.entry("roost.link.certificate", "/etc/roost/link/tls.crt"),
          Map.entry("roost.link.key", "/etc/roost/link/tls.key"),
          Map.entry("roost.link.ca", "/etc/roost/link/ca.crt"),
          Map.entry("roost.kubernetes.network-policies", "true"),
          Map.entry("roost.kubernetes.egress-except", "10.0.0.0/8,169.254.0.0/16,fc00::/7"),
          Map.entry("roost.kubernetes.egress-allowed", "10.20.0.0/16:5432,[fd00::7]:*"),
          Map.entry("roost.kubernetes.builder-memory-mib", "4096"),
          Map.entry("roost.kubernetes.builder-cpu", "1.5"),
          Map.entry("roost.kubernetes.builder-disk-mib", "16384"),
          Map.entry("roost.kubernetes.cpu-request-ratio", "0.5"),
          Map.entry("roost.kubernetes.memory-request-ratio", "0.75"));

  private TestPodSettings() {}

  /**
   * @param others besides the needed ones; one that is empty is not set
   */
  static RoostConfig roost(Map<String, String> others) {
    Map<String, String> all = new HashMap<>(NEEDED);
    all.putAll(others);
    all.values().removeIf(String::isEmpty);
    SmallRyeConfigBuilder builder =
        new SmallRyeConfigBuilder().addDiscoveredConverters().withMapping(RoostConfig.class);
    all.forEach(builder::withDefaultValue);
    return builder.build().getConfigMapping(RoostConfig.class);
  }

  static PodSettings pods(Map<String, String> others) {
    return PodSettings.of(roost(others));
  }
}
