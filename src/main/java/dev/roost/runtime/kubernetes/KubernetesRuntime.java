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
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/** Builds and executors as Jobs in one namespace. */
@ApplicationScoped
@Typed(KubernetesRuntime.class)
public class KubernetesRuntime implements Runtime {
  private static final Logger LOG = Logger.getLogger(KubernetesRuntime.class);

  /** Many changes come together; one look serves them all. */
  private static final long HINT_MILLIS = 100;

  private static final Duration DEAD_WATCH = Duration.ofSeconds(30);
  private static final Duration OLD_WATCH = Duration.ofMinutes(2);

  /** Whatever starts well has started by then: what hasn't is asked for events. */
  private static final Duration QUIET = Duration.ofSeconds(2);

  /** How often what only explains is asked for. */
  private static final Duration EXPLAINED = Duration.ofSeconds(2);

  /** Beyond a pod's own time to end, for its node to say that it has. */
  private static final Duration END_MARGIN = Duration.ofSeconds(30);

  private static final int MAX_LAST_LINE = 500;
  private static final int LAST = 5_000;

  private final RoostConfig.Kubernetes config;
  private final PodSettings settings;
  private final Cluster cluster;
  private final BuildLogs logs;
  private final Watch<Job> jobs;
  private final Watch<Pod> pods;
  private final String boot;
  private final Recent events = new Recent(EXPLAINED.toNanos());
  private final Recent lastLines = new Recent(EXPLAINED.toNanos());
  private final Patience reading;
  private final Patience ending;

  /** Image keys whose image a node could not find in the registry. */
  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  @Inject
  public KubernetesRuntime(
      RoostConfig config,
      KubernetesClient client,
      Event<RuntimeChanged> changed,
      ScheduledExecutorService timer) {
    this.config = config.kubernetes();
    settings = PodSettings.of(config);
    cluster = new Cluster(client, settings.namespace());
    logs = new BuildLogs(cluster);
    boot = boot();
    reading = new Patience(config.executors().lostAfter());
    ending = new Patience(config.executors().grace().plus(END_MARGIN));
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
    settings = null;
    cluster = null;
    logs = null;
    jobs = null;
    pods = null;
    boot = null;
    reading = null;
    ending = null;
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
    Optional<String> result =
        patiently(builderJobId, () -> logs.result(seen.pod())).orElse(Optional.empty());
    String message = ended.message() + (result.isEmpty() ? lastWords(seen.pod()) : "");
    return new Observation.Ended(ended.reason(), message, result.orElse(null));
  }

  @Override
  public BuildOutput buildOutput(String builderJobId, long position) {
    return Optional.ofNullable(
            lookUp(Names.builder(builderJobId), Names.BUILDER_JOB_ID, builderJobId).pod())
        .flatMap(pod -> patiently(builderJobId, () -> logs.read(builderJobId, pod, position)))
        .orElseGet(() -> new BuildOutput(List.of(), position));
  }

  @Override
  public void deleteBuilderJob(String builderJobId) {
    logs.forget(builderJobId);
    reading.forget(builderJobId);
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
      imageKey(seen).ifPresent(missing::add);
    }
    if (observation instanceof Observation.Ended ended && seen.pod() != null) {
      return new Observation.Ended(
          ended.reason(), ended.message() + lastWords(seen.pod()), ended.result());
    }
    if (observation instanceof Observation.Running running && running.trouble() != null) {
      return new Observation.Running(running.trouble() + lastWords(seen.pod()));
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
    // Its node may be restarting, or gone for ever.
    return patiently(
            executorId,
            () ->
                new ExecutorOutput(
                    cluster.wholeLog(name, ExecutorManifest.SIDECAR),
                    cluster.wholeLog(name, ExecutorManifest.AGENT)))
        .orElseThrow(() -> new IOException("the output of pod " + name + " can't be read"));
  }

  /** Removes a pod that does not end, since then its node is gone. */
  @Override
  public boolean stopExecutor(String executorId) {
    Optional<Pod> running = cluster.podOf(Names.executor(executorId)).filter(one -> !hasEnded(one));
    if (running.isEmpty()) {
      ending.forget(executorId);
      return true;
    }
    String name = running.get().getMetadata().getName();
    if (ending.isOver(executorId)) {
      LOG.warnf("pod %s does not end: it is removed, whatever its node does", name);
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
        Math.max(
            jobs.lookAfter(DEAD_WATCH.toNanos(), OLD_WATCH.toNanos()),
            pods.lookAfter(DEAD_WATCH.toNanos(), OLD_WATCH.toNanos())));
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
    String jobName = job.getMetadata().getName();
    if (pod != null) {
      String name = pod.getMetadata().getName();
      return events.get(name, () -> cluster.warning(name)).orElse(null);
    }
    return events
        .get(
            jobName,
            () -> hasEnded(job) ? cluster.lastWarningOfPods(jobName) : cluster.warning(jobName))
        .orElse(null);
  }

  /** What the containers that failed have printed last. */
  private String lastWords(Pod pod) {
    String name = pod.getMetadata().getName();
    return Diagnosis.failed(pod).stream()
        .flatMap(
            container ->
                lastLines.get(name + "/" + container, () -> lastLine(name, container)).stream())
        .map(line -> " It printed last: " + line)
        .findFirst()
        .orElse("");
  }

  /** Not what is written for programs: frames, results, and the log entries of scripts. */
  private Optional<String> lastLine(String pod, String container) {
    try {
      return Optional.of(cluster.lastLine(pod, container, 1))
          .filter(line -> !line.isEmpty() && !line.startsWith("{") && !line.startsWith("["))
          .map(line -> line.substring(0, Math.min(line.length(), MAX_LAST_LINE)));
    } catch (RuntimeUnavailable e) {
      return Optional.empty();
    }
  }

  /** What can't be read for as long as nothing may be lost is done without: empty. */
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

  private static Optional<String> imageKey(Seen seen) {
    return Optional.ofNullable(seen.job())
        .map(job -> job.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(Names.IMAGE_KEY));
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

  private static String boot() {
    try (InputStream stream =
        KubernetesRuntime.class.getResourceAsStream("/python/roost_executor/boot.py")) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
