package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Egress.Destination;
import dev.roost.runtime.Runtime.ExecutorSpec;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRuleBuilder;
import java.util.Map;

/**
 * The egress of an executor with a list of destinations, besides DNS and the control plane, which
 * the chart's policies open for all executors. Pure.
 */
final class EgressManifest {
  private EgressManifest() {}

  /** The policy is deleted with the Job. */
  static NetworkPolicy policy(PodSettings settings, ExecutorSpec spec, Job job) {
    return new NetworkPolicyBuilder()
        .withNewMetadata()
        .withName(job.getMetadata().getName())
        .withNamespace(settings.namespace())
        .withLabels(job.getMetadata().getLabels())
        .withOwnerReferences(
            new OwnerReferenceBuilder()
                .withApiVersion("batch/v1")
                .withKind("Job")
                .withName(job.getMetadata().getName())
                .withUid(job.getMetadata().getUid())
                .build())
        .endMetadata()
        .withNewSpec()
        .withNewPodSelector()
        .withMatchLabels(Map.of(ObjectNames.EXECUTOR_ID, spec.executorId()))
        .endPodSelector()
        .withPolicyTypes("Egress")
        .withEgress(
            spec.egress().destinations().stream()
                .map(destination -> rule(settings.egress(), destination))
                .toList())
        .endSpec()
        .build();
  }

  private static NetworkPolicyEgressRule rule(EgressRules rules, Destination destination) {
    return new NetworkPolicyEgressRuleBuilder()
        .addNewTo()
        .withNewIpBlock()
        .withCidr(destination.network().toString())
        .withExcept(rules.closedWithin(destination))
        .endIpBlock()
        .endTo()
        .addNewPort()
        .withNewPort(destination.port())
        .withProtocol("TCP")
        .endPort()
        .build();
  }
}
