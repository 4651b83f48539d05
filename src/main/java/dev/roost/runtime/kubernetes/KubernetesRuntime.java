package dev.roost.runtime.kubernetes;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress;
import dev.roost.runtime.EgressScope;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.RuntimeChanged;
import dev.roost.runtime.Shortage;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.Reception;
import jakarta.enterprise.inject.Typed;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/** Builds and executors as Jobs in one namespace. */
@ApplicationScoped
@Typed(KubernetesRuntime.class)
public class KubernetesRuntime implements Runtime {
  private static final Logger LOG = Logger.getLogger(KubernetesRuntime.class);

  /** Many changes arrive together; one notification covers them all. */
  private static final long HINT_MILLIS = 100;

  /** Added to a pod's grace period, for its node to report the end. */
  private static final Duration END_MARGIN = Duration.ofSeconds(30);

  private static final int LAST = 5_000;

  private final RoostConfig.Kubernetes config;
  private final PodSettings settings;
  private final Cluster cluster;
  private final BuildLogs logs;
  private final RegistryJob registry;
  private final ImageRemoval images;
  private final Events events;
  private final ClusterObserver observer;
  private final String boot;
  private final Deadlines reading;
  private final Deadlines ending;

  /** Image keys whose image a node could not find in the registry. */
  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  public KubernetesRuntime(
      RoostConfig config,
      KubernetesClient client,
      Event<RuntimeChanged> changed,
      ScheduledExecutorService timer) {
    this.config = config.kubernetes();
    settings = PodSettings.of(config);
    cluster = new Cluster(client, settings.namespace());
    logs = new BuildLogs(cluster);
    registry = new RegistryJob(cluster);
    images = new ImageRemoval(registry, settings);
    boot = boot();
    reading = new Deadlines(config.executors().lostAfter());
    ending = new Deadlines(config.executors().grace().plus(END_MARGIN));
    AtomicBoolean hinted = new AtomicBoolean();
    Runnable notification =
        () -> {
          if (hinted.compareAndSet(false, true)) {
            timer.schedule(
                () -> {
                  hinted.set(false);
                  changed.fire(new RuntimeChanged());
                },
                HINT_MILLIS,
                TimeUnit.MILLISECONDS);
          }
        };
    events = new Events(cluster);
    observer = new ClusterObserver(cluster, events, settings, notification);
  }

  @Override
  public Description describe() {
    return new Description(
        "kubernetes",
        config.pythonVersions(),
        config.defaultPythonVersion(),
        settings.platform(),
        config.maxExecutors(),
        List.copyOf(settings.profiles().keySet()));
  }

  /** The base image of the settings, by digest if the settings have one. */
  @Override
  public String baseIdentity(String pythonVersion) {
    if (!config.pythonVersions().contains(pythonVersion)) {
      throw new UnsupportedPython(
          "Python %s is not offered; the versions are %s."
              .formatted(pythonVersion, String.join(", ", config.pythonVersions())));
    }
    return config
        .baseImages()
        .getOrDefault(pythonVersion, config.baseImage().replace("{version}", pythonVersion));
  }

  /** Any replica can pull the base; versions that are no longer offered aren't built. */
  @Override
  public boolean buildsOn(String pythonVersion, String base) {
    return config.pythonVersions().contains(pythonVersion);
  }

  @Override
  public BaseLookup lookUpBase(String pythonVersion) {
    String base = baseIdentity(pythonVersion);
    if (base.contains("@")) {
      return BaseLookup.NONE;
    }
    return registry
        .run(
            ObjectNames.lookup(base),
            RegistryManifest.RESOLVE,
            () -> RegistryManifest.resolve(settings, base))
        .map(
            answer ->
                answer.succeeded()
                    ? BaseLookup.found(base, String.valueOf(answer.result().get("digest")))
                    : BaseLookup.failed(base, answer.message()))
        .orElse(BaseLookup.GOING);
  }

  @Override
  public EgressScope egress() {
    return settings.egress().enforced() ? EgressScope.ADDRESSES : EgressScope.ALL;
  }

  @Override
  public Optional<String> refusal(Egress egress) {
    return settings.egress().refusal(egress);
  }

  @Override
  public void startBuild(BuildSpec spec) {
    create(BuilderManifest.job(settings, spec));
    missing.remove(spec.imageKey());
  }

  @Override
  public Observation observeBuild(String builderJobId) {
    String name = ObjectNames.builder(builderJobId);
    ClusterObserver.Seen seen = observer.see(name, ObjectNames.BUILDER_JOB_ID, builderJobId);
    Observation observation = Diagnosis.ofBuild(seen.job(), seen.pod(), seen.warning());
    if (!(observation instanceof Observation.Ended ended) || seen.pod() == null) {
      return observation;
    }
    Optional<String> result =
        patiently(builderJobId, () -> logs.result(seen.pod())).orElse(Optional.empty());
    String message = ended.message() + (result.isEmpty() ? observer.lastOutput(seen.pod()) : "");
    return new Observation.Ended(ended.reason(), message, result.orElse(null));
  }

  @Override
  public BuildOutput buildOutput(String builderJobId, long position) {
    return Optional.ofNullable(
            observer
                .lookUp(ObjectNames.builder(builderJobId), ObjectNames.BUILDER_JOB_ID, builderJobId)
                .pod())
        .flatMap(pod -> patiently(builderJobId, () -> logs.read(builderJobId, pod, position)))
        .orElseGet(() -> new BuildOutput(List.of(), position));
  }

  @Override
  public void deleteBuilderJob(String builderJobId) {
    logs.forget(builderJobId);
    reading.forget(builderJobId);
    cluster.deleteJob(ObjectNames.builder(builderJobId));
  }

  @Override
  public boolean hasBuild(String imageKey) {
    return !missing.contains(imageKey);
  }

  @Override
  public Removal deleteBuild(String imageKey, String image) {
    return images.remove(image);
  }

  @Override
  public void startExecutor(ExecutorSpec spec) {
    Job job = create(ExecutorManifest.job(settings, spec, boot));
    try {
      // Created before the Secret, because the pod's containers wait for the Secret.
      if (!spec.egress().destinations().isEmpty()) {
        cluster.create(EgressManifest.policy(settings, spec, job));
      }
      cluster.create(ExecutorManifest.token(settings, spec, job, authorities()));
    } catch (NoCapacity e) {
      cluster.deleteJob(job.getMetadata().getName());
      throw e;
    }
  }

  private Job create(Job job) {
    return cluster.create(job, events.follow(job.getMetadata().getName()));
  }

  /**
   * A quota counts pods of every kind. Only pods on the same nodes can free node capacity, and only
   * pods with an extended resource can free that resource.
   */
  @Override
  public boolean helps(Shortage shortage, String profile, String other) {
    return shortage.byQuota()
        || knownProfile(profile).isHelpedBy(knownProfile(other), shortage.resources());
  }

  @Override
  public AgentLimits limits(String profile) {
    PodProfile known = knownProfile(profile);
    return new AgentLimits(known.maxMemoryMib(), known.maxCpu());
  }

  private PodProfile knownProfile(String name) {
    return name == null
        ? settings.profile(null)
        : settings.profiles().getOrDefault(name, PodProfile.PLAIN);
  }

  private Optional<String> authorities() {
    try {
      return settings.linkCa().isPresent()
          ? Optional.of(Files.readString(settings.linkCa().get()))
          : Optional.empty();
    } catch (IOException e) {
      throw new RuntimeUnavailable("roost.link.ca cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public Observation observeExecutor(String executorId) {
    ClusterObserver.Seen seen =
        observer.see(ObjectNames.executor(executorId), ObjectNames.EXECUTOR_ID, executorId);
    Observation observation = Diagnosis.of(seen.job(), seen.pod(), seen.warning());
    if (observation instanceof Observation.Ended ended
        && Diagnosis.IMAGE_PULL_FAILED.equals(ended.reason())) {
      imageKey(seen).ifPresent(missing::add);
    }
    if (observation instanceof Observation.Ended ended && seen.pod() != null) {
      return new Observation.Ended(
          ended.reason(), ended.message() + observer.lastOutput(seen.pod()), ended.result());
    }
    if (observation instanceof Observation.Running running && running.problem() != null) {
      return new Observation.Running(running.problem() + observer.lastOutput(seen.pod()));
    }
    return observation;
  }

  @Override
  public Optional<Observation.Ended> causeOfEnd(String executorId) {
    return observer.causeOfEnd(ObjectNames.executor(executorId));
  }

  @Override
  public Set<String> executors() {
    observer.blindFor(); // restarts dead watches
    events.watch(); // here, because only the leader compares executors with what runs
    return observer.ids(ObjectNames.EXECUTOR_ID);
  }

  @Override
  public Set<String> builderJobs() {
    return observer.ids(ObjectNames.BUILDER_JOB_ID);
  }

  @Override
  public ExecutorOutput executorOutput(String executorId) throws IOException {
    Optional<Pod> pod = cluster.podOf(ObjectNames.executor(executorId));
    if (pod.isEmpty()) {
      return new ExecutorOutput(null, null);
    }
    String name = pod.get().getMetadata().getName();
    // The node may be restarting, or gone forever.
    return patiently(
            executorId,
            () ->
                new ExecutorOutput(
                    cluster.wholeLog(name, ExecutorManifest.SIDECAR),
                    cluster.wholeLog(name, ExecutorManifest.AGENT)))
        .orElseThrow(() -> new IOException("the output of pod " + name + " cannot be read"));
  }

  /** Deletes a pod that does not end within its deadline, since its node is then gone. */
  @Override
  public boolean stopExecutor(String executorId) {
    Optional<Pod> running =
        cluster
            .podOf(ObjectNames.executor(executorId))
            .filter(one -> !ClusterObserver.hasEnded(one));
    if (running.isEmpty()) {
      ending.forget(executorId);
      return true;
    }
    String name = running.get().getMetadata().getName();
    if (ending.isOver(executorId)) {
      LOG.warnf("pod %s does not terminate: it is deleted without waiting for its node", name);
      cluster.deleteNow(name);
      return true;
    }
    if (running.get().getSpec().getActiveDeadlineSeconds() == null) {
      cluster.end(name);
    }
    return false;
  }

  @Override
  public void deleteExecutor(String executorId) {
    reading.forget(executorId);
    ending.forget(executorId);
    cluster.deleteJob(ObjectNames.executor(executorId));
  }

  @Override
  public void show(String executorId, String executorJobId) {
    try {
      observer
          .pod(ObjectNames.EXECUTOR_ID, executorId)
          .ifPresent(
              pod ->
                  cluster.annotate(
                      pod.getMetadata().getName(), ObjectNames.EXECUTOR_JOB_ID, executorJobId));
    } catch (RuntimeUnavailable e) {
      LOG.debugf("executor %s cannot be annotated: %s", executorId, e.getMessage());
    }
  }

  /** The Job keeps the labels of its start: the control plane may not change Jobs. */
  @Override
  public void showAgent(String executorId, Map<String, String> labels) {
    try {
      observer
          .pod(ObjectNames.EXECUTOR_ID, executorId)
          .ifPresent(
              pod ->
                  cluster.label(
                      pod.getMetadata().getName(),
                      Map.of(ObjectNames.AGENT_ID, labels.get("agent-id")),
                      Map.of(
                          ObjectNames.AGENT_NAME,
                          labels.get("agent-name"),
                          ObjectNames.AGENT_REVISION,
                          labels.get("agent-revision"))));
    } catch (RuntimeUnavailable e) {
      LOG.debugf("executor %s cannot be labelled: %s", executorId, e.getMessage());
    }
  }

  void onShutdown(
      @Observes(notifyObserver = Reception.IF_EXISTS) @Priority(LAST) ShutdownEvent event) {
    observer.close();
    events.close();
  }

  /** How long the watches have been dead; zero: they are live. */
  Duration blindFor() {
    return observer.blindFor();
  }

  /** Whether the API server answers. */
  boolean answers() {
    try {
      cluster.job("none");
      return true;
    } catch (RuntimeUnavailable e) {
      return false;
    }
  }

  /**
   * Empty when the read has failed until its deadline, so that the caller continues without the
   * value.
   */
  private <T> Optional<T> patiently(String id, Supplier<T> read) {
    try {
      T found = read.get();
      reading.forget(id);
      return Optional.of(found);
    } catch (RuntimeUnavailable e) {
      if (!reading.isOver(id)) {
        throw e;
      }
      LOG.warnf("%s: %s", id, e.getMessage());
      return Optional.empty();
    }
  }

  private static Optional<String> imageKey(ClusterObserver.Seen seen) {
    return Optional.ofNullable(seen.job())
        .map(job -> job.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(ObjectNames.IMAGE_KEY));
  }

  private static String boot() {
    try (InputStream stream =
        KubernetesRuntime.class.getResourceAsStream("/python/roost_executor/boot.py")) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
