package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime.BuildSpec;
import dev.roost.runtime.Runtime.ExecutorSpec;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is sent to Kubernetes, as files of {@code src/test/resources/kubernetes/manifests}, and what
 * must be true of every one of them.
 */
class ManifestTest {
  private static final Path GOLDEN = Path.of("src/test/resources/kubernetes/manifests");
  private static final ObjectMapper SORTING =
      new ObjectMapper().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);
  private static final String TOKEN = "executor_01k.1795305600.5ec7e7";
  private static final String BOOT = "print('stands for boot.py')";
  private static final String BASE = "docker.io/library/python:3.13-slim";
  private static final String DIGEST = "@sha256:" + "3f1c".repeat(16);
  private static final String KEY = "b7a9".repeat(16);

  private static final PodSettings DEFAULTS = TestPodSettings.pods(Map.of());
  private static final PodSettings EVERYTHING = TestPodSettings.pods(TestPodSettings.EVERYTHING);

  static Stream<String> names() {
    return manifests().keySet().stream();
  }

  static Stream<Job> jobs() {
    return manifests().values().stream().filter(Job.class::isInstance).map(Job.class::cast);
  }

  private static Map<String, HasMetadata> manifests() {
    Map<String, HasMetadata> all = new TreeMap<>();
    all.put("executor", executor(DEFAULTS, BASE + DIGEST, "xjob_01k5"));
    all.put("executor-started-again", executor(DEFAULTS, BASE + DIGEST, null));
    all.put("executor-with-requirements", executor(DEFAULTS, DEFAULTS.repository() + DIGEST, null));
    all.put(
        "executor-everything-set",
        executor(EVERYTHING, EVERYTHING.pullRepository() + DIGEST, "xjob_01k5"));
    ExecutorSpec choosy =
        chosen("gvisor", "0.0.0.0/0:443\n10.20.0.7:5432\n192.0.2.7:80\n[2001:db8::/32]:443");
    Job sandboxed = ExecutorManifest.job(EVERYTHING, choosy, BOOT);
    all.put("executor-with-profile-and-egress", sandboxed);
    all.put("executor-with-gpu", ExecutorManifest.job(EVERYTHING, chosen("gpu", "all"), BOOT));
    all.put("executor-egress", EgressManifest.policy(EVERYTHING, choosy, made(sandboxed)));
    all.put("executor-token", token());
    all.put("builder", builder(DEFAULTS));
    all.put("builder-everything-set", builder(EVERYTHING));
    all.put("remover", remover(DEFAULTS));
    all.put("remover-everything-set", remover(EVERYTHING));
    return all;
  }

  private static ExecutorSpec spec(String image, String startedFor) {
    Map<String, String> labels = new TreeMap<>();
    labels.put("agent-id", "agent_01k2");
    labels.put("agent-name", "Greeter of the night, 100 % ünïcode");
    labels.put("agent-revision", "7");
    if (startedFor != null) {
      labels.put("started-for", startedFor);
    }
    return new ExecutorSpec(
        "executor_01k3", KEY, image, "3.13", TOKEN, 256, 0.5, null, Egress.ALL, labels);
  }

  /** The same of an agent that has chosen a profile and what its scripts reach. */
  private static ExecutorSpec chosen(String profile, String egress) {
    ExecutorSpec plain = spec(BASE + DIGEST, null);
    return new ExecutorSpec(
        plain.executorId(),
        plain.imageKey(),
        plain.image(),
        plain.pythonVersion(),
        plain.token(),
        plain.memoryMib(),
        plain.cpu(),
        profile,
        Egress.parse(egress),
        plain.labels());
  }

  private static Job executor(PodSettings settings, String image, String startedFor) {
    return ExecutorManifest.job(settings, spec(image, startedFor), BOOT);
  }

  private static Secret token() {
    return ExecutorManifest.token(
        DEFAULTS, spec(BASE, null), made(executor(DEFAULTS, BASE, null)), Optional.empty());
  }

  private static Job made(Job job) {
    return new JobBuilder(job)
        .editMetadata()
        .withUid("0a6cd2a4-51c5-4b9c-a8f6-3d1f5d0a9f5e")
        .endMetadata()
        .build();
  }

  private static Job builder(PodSettings settings) {
    List<String> requirements = List.of("requests>=2.32", "rich==14.1.0 ; python_version > '3.8'");
    return BuilderManifest.job(
        settings,
        new BuildSpec(
            "bjob_01k4", "agent_01k2", KEY, BASE, "3.13", new Requirements(requirements), 900));
  }

  private static Job remover(PodSettings settings) {
    return RegistryManifest.delete(settings, DIGEST.substring(1));
  }

  @ParameterizedTest
  @MethodSource("names")
  void theManifestIsTheOneOfTheFile(String name) throws IOException {
    Path file = GOLDEN.resolve(name + ".yaml");
    String made = Serialization.asYaml(manifests().get(name));
    if (Boolean.getBoolean("manifests.write")) {
      Files.createDirectories(GOLDEN);
      Files.writeString(file, made);
    }
    assertEquals(
        sorted(Files.readString(file)),
        sorted(made),
        file + ": rewrite it with ./mvnw test -Dtest=ManifestTest -Dmanifests.write=true");
  }

  private static String sorted(String yaml) throws IOException {
    return SORTING
        .writerWithDefaultPrettyPrinter()
        .writeValueAsString(Serialization.unmarshal(yaml, LinkedHashMap.class));
  }

  /** The rules of Pod Security's level "restricted", and two of ours. */
  @ParameterizedTest
  @MethodSource("jobs")
  void everyPodIsRestrictedAndKnowsNothingOfTheCluster(Job job) {
    PodSpec pod = pod(job);
    assertEquals(false, pod.getAutomountServiceAccountToken());
    assertEquals(false, pod.getEnableServiceLinks());
    assertEquals(true, pod.getSecurityContext().getRunAsNonRoot());
    assertTrue(
        Set.of("RuntimeDefault", "Localhost")
            .contains(pod.getSecurityContext().getSeccompProfile().getType()));
    assertNull(pod.getHostNetwork());
    assertNull(pod.getHostPID());
    assertNull(pod.getHostIPC());
    for (Volume volume : pod.getVolumes()) {
      assertTrue(
          volume.getEmptyDir() != null
              || volume.getSecret() != null
              || volume.getConfigMap() != null,
          volume.getName());
      if (volume.getEmptyDir() != null) {
        assertTrue(volume.getEmptyDir().getSizeLimit() != null, volume.getName());
      }
    }
    for (Container container : containers(job)) {
      var security = container.getSecurityContext();
      assertEquals(false, security.getAllowPrivilegeEscalation(), container.getName());
      assertEquals(true, security.getReadOnlyRootFilesystem(), container.getName());
      assertEquals(List.of("ALL"), security.getCapabilities().getDrop(), container.getName());
      assertEquals(List.of(), security.getCapabilities().getAdd(), container.getName());
      assertNull(security.getPrivileged(), container.getName());
      assertTrue(security.getRunAsUser() > 0, container.getName());
      for (String resource : List.of("cpu", "memory", "ephemeral-storage")) {
        var limit = container.getResources().getLimits().get(resource).getNumericalAmount();
        var request = container.getResources().getRequests().get(resource).getNumericalAmount();
        assertTrue(limit.signum() > 0, resource);
        assertTrue(request.compareTo(limit) <= 0, container.getName() + " requests " + resource);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void everyPodRunsOnceAndIsTakenAwayInTheEnd(Job job) {
    assertEquals(0, job.getSpec().getBackoffLimit());
    assertEquals("Failed", job.getSpec().getPodReplacementPolicy());
    assertEquals("Never", pod(job).getRestartPolicy());
    assertTrue(job.getSpec().getActiveDeadlineSeconds() > 0);
    assertTrue(job.getSpec().getTtlSecondsAfterFinished() > 0);
  }

  @ParameterizedTest
  @MethodSource("names")
  void namesAndLabelsAreValid(String name) {
    HasMetadata object = manifests().get(name);
    String own = object.getMetadata().getName();
    assertTrue(own.length() <= 63 && own.matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?"), own);
    object
        .getMetadata()
        .getLabels()
        .forEach(
            (label, value) ->
                assertTrue(
                    value.matches("(?=.{1,63}$)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"),
                    label + ": " + value));
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void noJobHoldsAToken(Job job) {
    assertFalse(Serialization.asYaml(job).contains(TOKEN));
    assertFalse(Serialization.asYaml(job).contains("5ec7e7"));
  }

  @Test
  void onlyTheSidecarReadsTheTokenAndOnlyTheSidecarWritesTheLink() {
    for (Job job : List.of(executor(DEFAULTS, BASE, null), executor(EVERYTHING, BASE, null))) {
      assertEquals(List.of("sidecar"), mounting(job, "token"));
      assertEquals(List.of("sidecar", "agent"), mounting(job, "link"));
      assertEquals(true, mount(job, "agent", "link").getReadOnly());
      assertNull(mount(job, "sidecar", "link").getReadOnly());
      assertEquals(List.of("sidecar", "agent"), mounting(job, "bundle"));
      assertEquals(true, mount(job, "agent", "bundle").getReadOnly());
      assertNull(mount(job, "sidecar", "bundle").getReadOnly());
      // Links within a bundle lead to the same files in both.
      assertEquals(
          mount(job, "sidecar", "bundle").getMountPath(),
          mount(job, "agent", "bundle").getMountPath());
      assertEquals(List.of("agent"), mounting(job, "work"));
      assertEquals(true, mount(job, "sidecar", "token").getReadOnly());
      assertEquals(2, containers(job).stream().map(ManifestTest::user).distinct().count());
    }
  }

  @Test
  void noCredentialIsWithinReachOfWhatBuildsButTheIndexs() {
    Job job = builder(EVERYTHING);
    assertEquals(List.of("push"), mounting(job, "registry"));
    assertEquals(List.of("build"), mounting(job, "index"));
    assertEquals(List.of("build", "push"), mounting(job, "ca"));
    assertEquals(true, mount(job, "push", "layer").getReadOnly());
    assertEquals(true, mount(job, "build", "tools").getReadOnly());
    // What the build leaves in its own directories reaches no other container.
    assertEquals(List.of("build"), mounting(job, "tmp"));
    assertEquals(List.of("build"), mounting(job, "environment"));
    assertFalse(user(container(job, "build")).equals(user(container(job, "push"))));
  }

  /** No package's code comes near it, so it may have them. */
  @Test
  void whatRemovesAnImageHasTheRegistrysCredentialsAndRunsNothingElse() {
    Job job = remover(EVERYTHING);
    assertEquals(List.of("delete"), containers(job).stream().map(Container::getName).toList());
    assertEquals(EVERYTHING.builderImage(), container(job, "delete").getImage());
    assertEquals(List.of("delete"), mounting(job, "registry"));
    assertEquals(List.of("delete"), mounting(job, "ca"));
    assertEquals(List.of(), mounting(job, "index"));
    // What reaches the registry through network policies is a builder.
    assertEquals("builder", job.getMetadata().getLabels().get(ObjectNames.COMPONENT));
    assertNull(job.getMetadata().getLabels().get(ObjectNames.BUILDER_JOB_ID));
  }

  @Test
  void withoutSecretsThereAreNoVolumesOfThem() {
    assertEquals(
        List.of(),
        pod(builder(DEFAULTS)).getVolumes().stream()
            .filter(volume -> volume.getEmptyDir() == null)
            .toList());
  }

  /** The sidecar needs a moment after the script's own time to bring home what there is. */
  @Test
  void aPodMayTakeLongerToEndThanItsScript() {
    assertTrue(
        pod(executor(EVERYTHING, BASE, null)).getTerminationGracePeriodSeconds()
            > EVERYTHING.graceSeconds());
  }

  @Test
  void theSidecarKnowsTheControlPlaneByTheAuthoritiesBesideItsToken() {
    ExecutorSpec spec = spec(BASE, null);
    Job job = executor(EVERYTHING, BASE, null);
    Secret secret = ExecutorManifest.token(EVERYTHING, spec, made(job), Optional.of("PEM"));
    assertEquals(Map.of("token", TOKEN, "ca.crt", "PEM"), secret.getStringData());
    List<String> arguments = container(job, "sidecar").getArgs();
    assertEquals("/run/secrets/roost/ca.crt", arguments.get(arguments.indexOf("--ca-file") + 1));
    assertFalse(
        container(executor(DEFAULTS, BASE, null), "sidecar").getArgs().contains("--ca-file"));
  }

  @Test
  void theSecretGoesWithItsJob() {
    Secret secret = token();
    assertEquals(Map.of("token", TOKEN), secret.getStringData());
    assertEquals("executor-01k3", secret.getMetadata().getOwnerReferences().get(0).getName());
    assertEquals(
        "0a6cd2a4-51c5-4b9c-a8f6-3d1f5d0a9f5e",
        secret.getMetadata().getOwnerReferences().get(0).getUid());
    assertEquals(true, secret.getImmutable());
  }

  @Test
  void anAgentThatChoosesNoProfileAndABuildGetTheOneNamedDefault() {
    for (Job job : List.of(executor(EVERYTHING, BASE, null), builder(EVERYTHING))) {
      assertEquals(false, pod(job).getHostUsers());
      assertNull(pod(job).getRuntimeClassName());
    }
    assertNull(pod(executor(DEFAULTS, BASE, null)).getHostUsers());
    assertNull(pod(remover(EVERYTHING)).getHostUsers());
  }

  @Test
  void aProfileThatIsNoMoreStartsNothingWeaker() {
    assertThrows(
        RuntimeUnavailable.class,
        () -> ExecutorManifest.job(DEFAULTS, chosen("gvisor", "all"), BOOT));
  }

  /** The chart's policy lets all pods to the internet that don't have this label. */
  @Test
  void onlyAnAgentWithoutLimitsHasAPodThatReachesTheInternet() {
    for (String egress : List.of("none", "192.0.2.7:443")) {
      Job job = ExecutorManifest.job(DEFAULTS, chosen(null, egress), BOOT);
      assertEquals(
          "limited", job.getSpec().getTemplate().getMetadata().getLabels().get("roost/egress"));
    }
    Job free = ExecutorManifest.job(DEFAULTS, chosen(null, "all"), BOOT);
    assertNull(free.getSpec().getTemplate().getMetadata().getLabels().get("roost/egress"));
  }

  private static PodSpec pod(Job job) {
    return job.getSpec().getTemplate().getSpec();
  }

  private static List<Container> containers(Job job) {
    return Stream.concat(pod(job).getInitContainers().stream(), pod(job).getContainers().stream())
        .toList();
  }

  private static Container container(Job job, String name) {
    return containers(job).stream().filter(one -> one.getName().equals(name)).findFirst().get();
  }

  private static Long user(Container container) {
    return container.getSecurityContext().getRunAsUser();
  }

  private static List<String> mounting(Job job, String volume) {
    return containers(job).stream()
        .filter(one -> one.getVolumeMounts().stream().anyMatch(m -> m.getName().equals(volume)))
        .map(Container::getName)
        .toList();
  }

  private static VolumeMount mount(Job job, String container, String volume) {
    return container(job, container).getVolumeMounts().stream()
        .filter(mount -> mount.getName().equals(volume))
        .findFirst()
        .get();
  }
}
