package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Everything that is asked of the API server, in one namespace. What can't be asked now throws
 * {@link RuntimeUnavailable}; what isn't there is empty.
 */
final class Cluster {
  private static final String ALREADY_EXISTS = "AlreadyExists";

  private final KubernetesClient client;
  private final String namespace;

  Cluster(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /** Makes the Job, or finds the one of that name: whoever made it meant the same. */
  Job create(Job job) {
    return ask(
        () -> {
          try {
            return client.batch().v1().jobs().inNamespace(namespace).resource(job).create();
          } catch (KubernetesClientException e) {
            if (!alreadyExists(e)) {
              throw e;
            }
            return job(job.getMetadata().getName())
                .orElseThrow(() -> new RuntimeUnavailable("the Job has just been deleted", e));
          }
        });
  }

  /** Makes the Secret unless it exists. Nothing else is ever done with Secrets. */
  void create(Secret secret) {
    ask(
        () -> {
          try {
            return client.secrets().inNamespace(namespace).resource(secret).create();
          } catch (KubernetesClientException e) {
            if (!alreadyExists(e)) {
              throw e;
            }
            return null;
          }
        });
  }

  Optional<Job> job(String name) {
    return Optional.ofNullable(
        ask(() -> client.batch().v1().jobs().inNamespace(namespace).withName(name).get()));
  }

  /** The pod of a Job; the newest, should there be several. */
  Optional<Pod> podOf(String jobName) {
    return ask(
        () ->
            client
                .pods()
                .inNamespace(namespace)
                .withLabel("batch.kubernetes.io/job-name", jobName)
                .list()
                .getItems()
                .stream()
                .max(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp())));
  }

  /** Ends the Job if it still runs and removes it with its pod and its Secret. */
  void deleteJob(String name) {
    ask(
        () ->
            client
                .batch()
                .v1()
                .jobs()
                .inNamespace(namespace)
                .withName(name)
                .withPropagationPolicy(DeletionPropagation.BACKGROUND)
                .delete());
  }

  /** Makes the kubelet end a pod at once. Its output stays, unlike that of a deleted one. */
  void end(String podName) {
    patch(podName, "{\"spec\": {\"activeDeadlineSeconds\": 1}}");
  }

  /** Removes a pod without waiting for its node, which may be gone. */
  void deleteNow(String podName) {
    ask(() -> pod(podName).withGracePeriod(0).delete());
  }

  void annotate(String podName, String name, String value) {
    patch(podName, "{\"metadata\": {\"annotations\": {\"%s\": \"%s\"}}}".formatted(name, value));
  }

  /**
   * The latest event about an object, of those that say why it doesn't start or has ended.
   *
   * @param name of a Job or a pod
   */
  Optional<String> latestEvent(String name, String type) {
    List<Event> events =
        ask(
            () ->
                client
                    .v1()
                    .events()
                    .inNamespace(namespace)
                    .withFields(Map.of("involvedObject.name", name, "type", type))
                    .list()
                    .getItems());
    return events.stream()
        .max(Comparator.comparing(Cluster::time))
        .map(event -> event.getReason() + ": " + event.getMessage());
  }

  /**
   * What a container has printed; null when it has not started, or its output is gone.
   *
   * @param since only lines from then on, in whole seconds, with their times; null: all, as printed
   */
  InputStream log(String podName, String container, Instant since) {
    return ask(
        () -> {
          try {
            var log = pod(podName).inContainer(container);
            return since == null
                ? log.getLogInputStream()
                : log.usingTimestamps().sinceTime(since.toString()).getLogInputStream();
          } catch (KubernetesClientException e) {
            if (isNoLog(e)) {
              return null;
            }
            throw e;
          }
        });
  }

  /**
   * The last line that a container has printed; empty when there is none.
   *
   * @param parts how much is read: lines, or pieces of 16 KiB of longer ones
   */
  String lastLine(String podName, String container, int parts) {
    return ask(
        () -> {
          try {
            String text = pod(podName).inContainer(container).tailingLines(parts).getLog().strip();
            return text.substring(text.lastIndexOf('\n') + 1);
          } catch (KubernetesClientException e) {
            if (isNoLog(e)) {
              return "";
            }
            throw e;
          }
        });
  }

  SharedIndexInformer<Job> watchJobs(Map<String, String> labels) {
    return client.batch().v1().jobs().inNamespace(namespace).withLabels(labels).runnableInformer(0);
  }

  SharedIndexInformer<Pod> watchPods(Map<String, String> labels) {
    return client.pods().inNamespace(namespace).withLabels(labels).runnableInformer(0);
  }

  private PodResource pod(String name) {
    return client.pods().inNamespace(namespace).withName(name);
  }

  private void patch(String podName, String json) {
    ask(() -> pod(podName).patch(PatchContext.of(PatchType.JSON_MERGE), json));
  }

  private static Instant time(Event event) {
    String text =
        event.getLastTimestamp() != null
            ? event.getLastTimestamp()
            : event.getMetadata().getCreationTimestamp();
    return Instant.parse(text);
  }

  /** The container has not started yet, or is no longer there. */
  private static boolean isNoLog(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_BAD_REQUEST
        || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
  }

  private static boolean alreadyExists(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_CONFLICT
        && e.getStatus() != null
        && ALREADY_EXISTS.equals(e.getStatus().getReason());
  }

  private static <T> T ask(Supplier<T> question) {
    try {
      return question.get();
    } catch (KubernetesClientException e) {
      throw new RuntimeUnavailable("the Kubernetes API: " + e.getMessage(), e);
    }
  }
}
