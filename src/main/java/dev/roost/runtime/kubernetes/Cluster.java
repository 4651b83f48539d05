package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Runtime.NoCapacity;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * All requests to the API server, in one namespace. Throws {@link RuntimeUnavailable} when the
 * server doesn't respond and {@link NoCapacity} when a quota refuses an object; an absent object is
 * empty.
 */
final class Cluster implements BuildLogs.Source {
  private static final String ALREADY_EXISTS = "AlreadyExists";

  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final long RESPONSE_LIMIT_SECONDS = 10;
  private static final int MAX_REFUSAL = 65_536;

  /** Limits the last line; much longer than any result. */
  private static final int MAX_LAST_LINE = 16 << 20;

  private final KubernetesClient client;
  private final String namespace;
  private final long pauseNanos;
  private volatile long silentSince;

  Cluster(KubernetesClient client, String namespace) {
    this(client, namespace, PAUSE);
  }

  /**
   * @param pause how long no request is sent after one without a response
   */
  Cluster(KubernetesClient client, String namespace, Duration pause) {
    this.client = client;
    this.namespace = namespace;
    this.pauseNanos = pause.toNanos();
    this.silentSince = System.nanoTime() - pauseNanos;
  }

  Job create(Job job) {
    return create(job, () -> {});
  }

  /**
   * Creates the Job, or returns the existing one of that name, which is equivalent.
   *
   * @param created runs if the Job did not exist
   */
  Job create(Job job, Runnable created) {
    return call(
        () -> {
          try {
            Job fresh = client.batch().v1().jobs().inNamespace(namespace).resource(job).create();
            created.run();
            return fresh;
          } catch (KubernetesClientException e) {
            if (!alreadyExists(e)) {
              throw e;
            }
            return job(job.getMetadata().getName())
                .orElseThrow(() -> new RuntimeUnavailable("the Job has just been deleted", e));
          }
        });
  }

  /** Creates the Secret unless it exists. Secrets are never read, changed or deleted. */
  void create(Secret secret) {
    call(
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

  /** Creates the policy unless it exists. */
  void create(NetworkPolicy policy) {
    call(
        () -> {
          try {
            return client
                .network()
                .v1()
                .networkPolicies()
                .inNamespace(namespace)
                .resource(policy)
                .create();
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
        call(() -> client.batch().v1().jobs().inNamespace(namespace).withName(name).get()));
  }

  /** The newest pod of a Job. */
  Optional<Pod> podOf(String jobName) {
    return call(
        () ->
            client
                .pods()
                .inNamespace(namespace)
                .withLabel(ObjectNames.JOB_NAME, jobName)
                .list()
                .getItems()
                .stream()
                .max(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp())));
  }

  /** Deletes the Job with its pod and its Secret, even if it still runs. */
  void deleteJob(String name) {
    call(
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

  /** Makes the kubelet end a pod at once. The output stays, unlike that of a deleted pod. */
  void end(String podName) {
    patch(podName, "{\"spec\": {\"activeDeadlineSeconds\": 1}}");
  }

  /** Deletes a pod without waiting for its node, which may be gone. */
  void deleteNow(String podName) {
    call(() -> pod(podName).withGracePeriod(0).delete());
  }

  void annotate(String podName, String name, String value) {
    patch(podName, "{\"metadata\": {\"annotations\": {\"%s\": \"%s\"}}}".formatted(name, value));
  }

  void label(String podName, Map<String, String> labels, Map<String, String> annotations) {
    ObjectMeta metadata =
        new ObjectMetaBuilder().withLabels(labels).withAnnotations(annotations).build();
    patch(podName, Serialization.asJson(Map.of("metadata", metadata)));
  }

  List<Event> events(Map<String, String> fields) {
    return call(
        () -> client.v1().events().inNamespace(namespace).withFields(fields).list().getItems());
  }

  /** The version from which a watch delivers all events after this moment. */
  String eventsVersion() {
    ListOptions one = new ListOptionsBuilder().withLimit(1L).build();
    return call(
        () ->
            client
                .v1()
                .events()
                .inNamespace(namespace)
                .list(one)
                .getMetadata()
                .getResourceVersion());
  }

  /**
   * Watches all events: a JSON object in each line. Doesn't delay other requests when it gets no
   * response.
   *
   * @param seconds after which the API server ends the watch
   */
  InputStream watchEvents(String resourceVersion, int seconds) {
    URI address =
        URI.create(
            "%sapi/v1/namespaces/%s/events?watch=true&resourceVersion=%s&timeoutSeconds=%d"
                .formatted(client.getMasterUrl(), namespace, resourceVersion, seconds));
    HttpRequest request =
        client.getHttpClient().newHttpRequestBuilder().uri(address).forStreaming().build();
    return open("a watch", request);
  }

  @Override
  public InputStream log(String podName, String container, Instant since) {
    return output(podName, container, since == null ? "" : "&timestamps=true&sinceTime=" + since);
  }

  /**
   * A container's complete output, copied to this machine's disk so that a broken connection is
   * noticed before anybody uses a part as the whole.
   */
  InputStream wholeLog(String podName, String container) {
    try (InputStream stream = output(podName, container, "")) {
      if (stream == null) {
        return null;
      }
      Path copy = Files.createTempFile("roost-log-", "");
      Files.copy(stream, copy, StandardCopyOption.REPLACE_EXISTING);
      return Files.newInputStream(copy, StandardOpenOption.DELETE_ON_CLOSE);
    } catch (IOException e) {
      throw new RuntimeUnavailable("a log cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public String lastLine(String podName, String container, int parts) {
    String options = "&tailLines=%d&limitBytes=%d".formatted(parts, MAX_LAST_LINE);
    try (InputStream stream = output(podName, container, options)) {
      if (stream == null) {
        return "";
      }
      String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8).strip();
      return text.substring(text.lastIndexOf('\n') + 1);
    } catch (IOException e) {
      throw new RuntimeUnavailable("a log cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Requests the log directly: the client's log methods first wait up to five seconds until the pod
   * is ready, and the pod of a build never is.
   */
  private InputStream output(String podName, String container, String options) {
    URI address =
        URI.create(
            "%sapi/v1/namespaces/%s/pods/%s/log?container=%s%s"
                .formatted(client.getMasterUrl(), namespace, podName, container, options));
    return call(() -> read(address));
  }

  private InputStream read(URI address) {
    HttpRequest request =
        client
            .getHttpClient()
            .newHttpRequestBuilder()
            .uri(address)
            .timeout(RESPONSE_LIMIT_SECONDS, TimeUnit.SECONDS)
            .build();
    try {
      return open("a log", request);
    } catch (KubernetesClientException e) {
      if (isNoLog(e.getCode())) {
        return null;
      }
      throw e;
    }
  }

  private InputStream open(String what, HttpRequest request) {
    CompletableFuture<HttpResponse<InputStream>> sent =
        client.getHttpClient().sendAsync(request, InputStream.class);
    try {
      HttpResponse<InputStream> answer = sent.get(RESPONSE_LIMIT_SECONDS, TimeUnit.SECONDS);
      InputStream body = new WholeStream(answer.body());
      if (answer.isSuccessful()) {
        return body;
      }
      try (body) {
        body.readNBytes(MAX_REFUSAL); // closing an unread body would close the connection
      }
      throw new KubernetesClientException(what + ": " + answer.message(), answer.code(), null);
    } catch (ExecutionException | TimeoutException | IOException e) {
      sent.cancel(true);
      throw new KubernetesClientException(what + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RuntimeUnavailable("interrupted", e);
    }
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
    call(() -> pod(podName).patch(PatchContext.of(PatchType.JSON_MERGE), json));
  }

  /** The container has not started yet, or no longer exists. */
  private static boolean isNoLog(int status) {
    return status == HttpURLConnection.HTTP_BAD_REQUEST
        || status == HttpURLConnection.HTTP_NOT_FOUND;
  }

  private static boolean alreadyExists(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_CONFLICT
        && e.getStatus() != null
        && ALREADY_EXISTS.equals(e.getStatus().getReason());
  }

  private static void refusedByQuota(KubernetesClientException e) {
    String message = e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage();
    if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
      Shortages.ofQuota(message)
          .ifPresent(
              shortage -> {
                throw new NoCapacity("Kubernetes rejects it: " + message, shortage, e);
              });
    }
  }

  /**
   * After a request without a response, no requests are sent for a moment: otherwise a reconciler
   * with many objects would wait for the timeout at each.
   */
  private <T> T call(Supplier<T> request) {
    if (System.nanoTime() - silentSince < pauseNanos) {
      throw new RuntimeUnavailable("the Kubernetes API does not respond", null);
    }
    try {
      return request.get();
    } catch (KubernetesClientException e) {
      if (e.getCode() <= 0) { // no status: no response
        silentSince = System.nanoTime();
      }
      refusedByQuota(e);
      throw new RuntimeUnavailable("the Kubernetes API: " + e.getMessage(), e);
    }
  }
}
