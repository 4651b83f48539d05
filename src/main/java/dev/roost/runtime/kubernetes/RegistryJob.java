package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Observation;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A Job that sends a request to the registry. The registry's credentials are in the agents'
 * namespace, where the control plane can't read them, so the control plane can't send the request.
 */
final class RegistryJob {
  private static final String RESULT_START = "{\"outcome\": ";

  private final Cluster cluster;

  RegistryJob(Cluster cluster) {
    this.cluster = cluster;
  }

  /**
   * The last line of a Job's container, or why there is none.
   *
   * @param result empty: the Job failed
   * @param message why it failed; null when there is a result
   */
  record Answer(Map<?, ?> result, String message) {
    boolean succeeded() {
      return message == null;
    }

    private static Answer failed(String message) {
      return new Answer(Map.of(), message);
    }
  }

  /**
   * Returns the answer of the Job of that name. Creates the Job if there is none, and deletes it
   * once it has ended.
   *
   * @param container whose last line is the result
   * @return empty: the Job still runs
   */
  Optional<Answer> run(String name, String container, Supplier<Job> manifest) {
    Optional<Job> job = cluster.job(name);
    if (job.isEmpty()) {
      cluster.create(manifest.get());
      return Optional.empty();
    }
    Pod pod = cluster.podOf(name).orElse(null);
    if (!(Diagnosis.of(job.get(), pod, null) instanceof Observation.Ended ended)) {
      return Optional.empty();
    }
    String output = pod == null ? "" : cluster.lastLine(pod.getMetadata().getName(), container, 1);
    cluster.deleteJob(name);
    return Optional.of(answer(output, ended.message()));
  }

  private static Answer answer(String output, String defaultMessage) {
    if (!output.startsWith(RESULT_START)) {
      return Answer.failed(
          output.isEmpty() ? defaultMessage : defaultMessage + " Its last output: " + output);
    }
    try {
      Map<?, ?> result = Serialization.unmarshal(output, Map.class);
      return "succeeded".equals(result.get("outcome"))
          ? new Answer(result, null)
          : Answer.failed(String.valueOf(result.get("message")));
    } catch (KubernetesClientException | IllegalArgumentException e) {
      return Answer.failed("The result is not valid JSON: " + output);
    }
  }
}
