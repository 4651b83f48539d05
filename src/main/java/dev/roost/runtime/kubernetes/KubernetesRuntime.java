package dev.roost.runtime.kubernetes;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.RuntimeChanged;
import io.fabric8.kubernetes.api.model.ContainerStatus;
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
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/** Builds and executors as Jobs in one namespace. */
@ApplicationScoped
@Typed(KubernetesRuntime.class)
public class KubernetesRuntime implements Runtime {
  private static final Logger LOG = Logger.getLogger(KubernetesRuntime.class);

  /** Many changes come together; one look serves them all. */
  private static final long HINT_MILLIS = 100;

  private static final Duration DEAD_WATCH = Duration.ofSeconds(30);

  /** Whatever starts well has started by then: what hasn't is asked for events. */
  private static final Duration QUIET = Duration.ofSeconds(2);

  private static final Duration END_LIMIT = Duration.ofSeconds(5);
  private static final int LAST = 5_000;

  private final RoostConfig.Kubernetes config;
  private final Duration lostAfter;
  private final PodSettings settings;
  private final Cluster cluster;
  private final BuildLogs logs;
  private final Watch<Job> jobs;
  private final Watch<Pod> pods;
  private final String boot;

  /** Image keys whose image a node could not find in the registry. */
  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  /** Since when an executor's output can't be read. */
  private final Map<String, Long> unreadable = new ConcurrentHashMap<>();

  @Inject
  public KubernetesRuntime(
      RoostConfig config,
      KubernetesClient client,
      Event<RuntimeChanged> changed,
      ScheduledExecutorService timer) {
    this.config = config.kubernetes();
    this.lostAfter = config.executors().lostAfter();
    settings = PodSettings.of(config);
    cluster = new Cluster(client, settings.namespace());
    logs = new BuildLogs(cluster);
    boot = boot();
    AtomicBoolean hinted = new AtomicBoolean();
    Runnable hint =
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
    Map<String, String> ours = Map.of(Names.INSTANCE, settings.instance());
    jobs = new Watch<>("Jobs", () -> cluster.watchJobs(ours), hint);
    pods = new Watch<>("Pods", () -> cluster.watchPods(ours), hint);
  }

  /** For the container's proxy. */
  protected KubernetesRuntime() {
    config = null;
    lostAfter = null;
    settings = null;
    cluster = null;
    logs = null;
    jobs = null;
    pods = null;
    boot = null;
  }

  @Override
  public Description describe() {
    return new Description(
        "kubernetes",
        config.pythonVersions(),
        config.defaultPythonVersion(),
        settings.platform(),
        config.maxExecutors());
  }

  /** The base image as the settings name it; by digest, if they do. */
  @Override
  public String baseIdentity(String pythonVersion) {
    if (!config.pythonVersions().contains(pythonVersion)) {
      throw new UnsupportedPython(
          "Python %s isn't offered here; there are %s."
              .formatted(pythonVersion, String.join(", ", config.pythonVersions())));
    }
    return config
        .baseImages()
        .getOrDefault(pythonVersion, config.baseImage().replace("{version}", pythonVersion));
  }

  @Override
  public void startBuild(BuildOrder order) {
    cluster.create(BuilderManifest.job(settings, order, baseIdentity(order.pythonVersion())));
    missing.remove(order.imageKey());
  }

  @Override
  public Observation observeBuild(String builderJobId) {
    String name = Names.builder(builderJobId);
    Seen seen = see(name, Names.BUILDER_JOB_ID, builderJobId);
    Observation observation = Diagnosis.ofBuild(seen.job(), seen.pod(), seen.warning());
    if (!(observation instanceof Observation.Ended ended) || seen.pod() == null) {
      return observation;
    }
    return new Observation.Ended(
        ended.reason(), ended.message(), logs.result(seen.pod()).orElse(null));
  }

  @Override
  public BuildOutput buildOutput(String builderJobId, long position) {
    return Optional.ofNullable(
            lookUp(Names.builder(builderJobId), Names.BUILDER_JOB_ID, builderJobId).pod())
        .map(pod -> logs.read(builderJobId, pod, position))
        .orElseGet(() -> new BuildOutput(List.of(), position));
  }

  @Override
  public void deleteBuilderJob(String builderJobId) {
    logs.forget(builderJobId);
    cluster.deleteJob(Names.builder(builderJobId));
  }

  @Override
  public boolean hasBuild(String imageKey) {
    return !missing.contains(imageKey);
  }

  /** Images stay in the registry: what removes them there is the registry's own retention. */
  @Override
  public void deleteBuild(String imageKey) {
    LOG.debugf("the image of build %s stays in the registry", imageKey);
  }

  @Override
  public void startExecutor(ExecutorOrder order) {
    Job job = cluster.create(ExecutorManifest.job(settings, order, boot));
    cluster.create(ExecutorManifest.token(settings, order, job));
  }

  @Override
  public Observation observeExecutor(String executorId) {
    Seen seen = see(Names.executor(executorId), Names.EXECUTOR_ID, executorId);
    Observation observation = Diagnosis.of(seen.job(), seen.pod(), seen.warning());
    if (observation instanceof Observation.Ended ended
        && Diagnosis.IMAGE_PULL_FAILED.equals(ended.reason())) {
      missing.add(seen.job().getMetadata().getAnnotations().get(Names.IMAGE_KEY));
    }
    return observation;
  }

  @Override
  public Set<String> executors() {
    lookAfterWatches();
    return jobs.values(Names.EXECUTOR_ID);
  }

  @Override
  public Set<String> builderJobs() {
    return jobs.values(Names.BUILDER_JOB_ID);
  }

  @Override
  public ExecutorOutput executorOutput(String executorId) throws IOException {
    Optional<Pod> pod = cluster.podOf(Names.executor(executorId));
    if (pod.isEmpty()) {
      return new ExecutorOutput(null, null);
    }
    String name = pod.get().getMetadata().getName();
    try {
      InputStream frames = cluster.log(name, ExecutorManifest.SIDECAR, null);
      InputStream log = cluster.log(name, ExecutorManifest.AGENT, null);
      unreadable.remove(executorId);
      return new ExecutorOutput(frames, log);
    } catch (RuntimeUnavailable e) {
      // Its node may be restarting, or gone for ever.
      long now = System.nanoTime();
      long since = unreadable.computeIfAbsent(executorId, id -> now);
      if (now - since < lostAfter.toNanos()) {
        throw e;
      }
      unreadable.remove(executorId);
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Waits for the end; removes the pod when it doesn't come, since then its node is gone. */
  @Override
  public void stopExecutor(String executorId) {
    String jobName = Names.executor(executorId);
    Optional<Pod> pod = cluster.podOf(jobName).filter(one -> !hasEnded(one));
    if (pod.isEmpty()) {
      return;
    }
    String name = pod.get().getMetadata().getName();
    cluster.end(name);
    long limit = System.nanoTime() + END_LIMIT.toNanos();
    while (!cluster.podOf(jobName).map(KubernetesRuntime::hasEnded).orElse(true)) {
      if (System.nanoTime() > limit) {
        cluster.deleteNow(name);
        return;
      }
      pause();
    }
  }

  @Override
  public void deleteExecutor(String executorId) {
    unreadable.remove(executorId);
    cluster.deleteJob(Names.executor(executorId));
  }

  @Override
  public void show(String executorId, String executorJobId) {
    try {
      podLabelled(Names.EXECUTOR_ID, executorId)
          .ifPresent(
              pod ->
                  cluster.annotate(
                      pod.getMetadata().getName(), Names.EXECUTOR_JOB_ID, executorJobId));
    } catch (RuntimeUnavailable e) {
      LOG.debugf("executor %s can't be annotated: %s", executorId, e.getMessage());
    }
  }

  void onShutdown(
      @Observes(notifyObserver = Reception.IF_EXISTS) @Priority(LAST) ShutdownEvent event) {
    jobs.close();
    pods.close();
  }

  /** For how long what happens in the cluster has not been seen at once; zero: it is. */
  Duration blindFor() {
    return Duration.ofNanos(
        Math.max(jobs.lookAfter(DEAD_WATCH.toNanos()), pods.lookAfter(DEAD_WATCH.toNanos())));
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
   * What is known of a Job and its pod.
   *
   * @param warning of the latest event, when there is one that may say what they wait for
   */
  private record Seen(Job job, Pod pod, String warning) {}

  private Seen see(String jobName, String label, String id) {
    Seen seen = lookUp(jobName, label, id);
    return new Seen(seen.job(), seen.pod(), warning(seen.job(), seen.pod()));
  }

  /**
   * Looks at the copies first; what they say of an absence or an end, or when they may be out of
   * date, is read anew. The warning is left out.
   */
  private Seen lookUp(String jobName, String label, String id) {
    Job job = jobs.named(settings.namespace(), jobName).orElse(null);
    Pod pod = podLabelled(label, id).orElse(null);
    boolean doubtful =
        job == null || pod == null || hasEnded(pod) || hasEnded(job) || !jobs.isLive();
    if (doubtful || !pods.isLive()) {
      job = cluster.job(jobName).orElse(null);
      pod = cluster.podOf(jobName).orElse(null);
    }
    return new Seen(job, pod, null);
  }

  /** Asked for only when something takes longer than it should, or is gone. */
  private String warning(Job job, Pod pod) {
    if (job == null || (pod != null && !isPending(pod))) {
      return null;
    }
    Instant made = Instant.parse(job.getMetadata().getCreationTimestamp());
    if (made.plus(QUIET).isAfter(Instant.now())) {
      return null;
    }
    String name = (pod == null ? job.getMetadata() : pod.getMetadata()).getName();
    return cluster.latestEvent(name, "Warning").orElse(null);
  }

  private Optional<Pod> podLabelled(String label, String id) {
    return pods.labelled(label, id).stream().findFirst();
  }

  private void lookAfterWatches() {
    blindFor();
  }

  private static boolean isPending(Pod pod) {
    return pod.getStatus().getPhase() == null || pod.getStatus().getPhase().equals("Pending");
  }

  private static boolean hasEnded(Pod pod) {
    String phase = String.valueOf(pod.getStatus().getPhase());
    return Set.of("Succeeded", "Failed").contains(phase)
        || (!pod.getStatus().getContainerStatuses().isEmpty()
            && pod.getStatus().getContainerStatuses().stream()
                .map(ContainerStatus::getState)
                .allMatch(state -> state != null && state.getTerminated() != null));
  }

  private static boolean hasEnded(Job job) {
    return job.getStatus() != null
        && job.getStatus().getConditions().stream()
            .anyMatch(condition -> condition.getStatus().equals("True"));
  }

  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RuntimeUnavailable("interrupted", e);
    }
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
