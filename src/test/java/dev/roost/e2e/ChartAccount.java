package dev.roost.e2e;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRule;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The control plane's account with the rights that the Helm chart gives it, and nothing else; and
 * the one of the agents' pods. It lives in a namespace of its own, as in an installation.
 */
final class ChartAccount implements AutoCloseable {
  /** Verbs that every account has about itself, and what is said about Kubernetes to all. */
  private static final Set<String> EVERYONES =
      Set.of("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews");

  private static final String NAME = "roost";
  private static final Set<String> KINDS = Set.of("ServiceAccount", "Role", "RoleBinding");

  private final KubernetesClient administrator;
  private final String namespace;
  private final List<HasMetadata> objects;
  private final Config config;

  /**
   * @param agentsNamespace exists already
   */
  ChartAccount(TestCluster cluster, String agentsNamespace) {
    administrator = cluster.client();
    namespace = agentsNamespace + "-control";
    administrator
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(namespace)
                .addToLabels(TestCluster.LABEL, "true")
                .endMetadata()
                .build())
        .create();
    objects =
        rendered(agentsNamespace).stream()
            .filter(object -> KINDS.contains(object.getKind()))
            .toList();
    objects.forEach(object -> administrator.resource(object).createOr(found -> found.update()));
    config = Config.fromKubeconfig(cluster.kubeconfig().toFile());
    String token =
        administrator
            .serviceAccounts()
            .inNamespace(namespace)
            .withName(NAME)
            .tokenRequest(
                new TokenRequestBuilder()
                    .withNewSpec()
                    .withExpirationSeconds(3_600L)
                    .endSpec()
                    .build())
            .getStatus()
            .getToken();
    config.setOauthToken(token);
    config.setClientCertData(null);
    config.setClientCertFile(null);
    config.setClientKeyData(null);
    config.setClientKeyFile(null);
    config.setUsername(null);
    config.setPassword(null);
  }

  private List<HasMetadata> rendered(String agentsNamespace) {
    String text =
        Command.run(
            "helm",
            "template",
            NAME,
            "k8s/roost",
            "--namespace",
            namespace,
            "--set",
            "agents.namespace=" + agentsNamespace,
            "--set",
            "agents.createNamespace=false,images.prefix=x,registry.repository=x/y",
            "--set",
            "database.existingSecret=x",
            "--kube-version",
            "1.27.0",
            "--no-hooks");
    return administrator
        .load(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
        .items();
  }

  /** The one of the control plane. */
  String name() {
    return "system:serviceaccount:" + namespace + ":" + NAME;
  }

  /** The control plane's namespace. */
  String namespace() {
    return namespace;
  }

  /** The one of the agents' pods. */
  String agentAccount() {
    return objects.stream()
        .filter(object -> object.getKind().equals("ServiceAccount"))
        .map(object -> object.getMetadata().getName())
        .filter(name -> !name.equals(NAME))
        .findFirst()
        .orElseThrow();
  }

  /** What the chart's Role says: resource and verb. */
  Set<String> chartRights() {
    List<PolicyRule> rules =
        objects.stream()
            .filter(Role.class::isInstance)
            .map(Role.class::cast)
            .findFirst()
            .orElseThrow()
            .getRules();
    return rights(
        rules.stream().map(PolicyRule::getResources).toList(),
        rules.stream().map(PolicyRule::getVerbs).toList());
  }

  /** What an account may do with resources in a namespace, as the API server says it. */
  static Set<String> rights(KubernetesClient self, String namespace) {
    var review =
        self.resource(
                new SelfSubjectRulesReviewBuilder()
                    .withNewSpec()
                    .withNamespace(namespace)
                    .endSpec()
                    .build())
            .create();
    var rules = review.getStatus().getResourceRules();
    return rights(
        rules.stream().map(ResourceRule::getResources).toList(),
        rules.stream().map(ResourceRule::getVerbs).toList());
  }

  private static Set<String> rights(List<List<String>> resources, List<List<String>> verbs) {
    Set<String> rights = new TreeSet<>();
    for (int i = 0; i < resources.size(); i++) {
      for (String resource : resources.get(i)) {
        if (!EVERYONES.contains(resource)) {
          verbs.get(i).forEach(verb -> rights.add(resource + " " + verb));
        }
      }
    }
    return rights;
  }

  /** Speaks to the API server as that account. */
  KubernetesClient client() {
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /** Writes a kubeconfig that knows the account's token and no other credentials. */
  Path writeKubeconfig(Path file) {
    String authority =
        config.getCaCertData() != null
            ? "certificate-authority-data: " + config.getCaCertData()
            : "certificate-authority: " + config.getCaCertFile();
    String text =
        """
        apiVersion: v1
        kind: Config
        current-context: test
        clusters: [{name: test, cluster: {server: "%s", %s}}]
        users: [{name: test, user: {token: "%s"}}]
        contexts: [{name: test, context: {cluster: test, user: test}}]
        """
            .formatted(config.getMasterUrl(), authority, config.getOauthToken());
    try {
      return Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    administrator.namespaces().withName(namespace).delete();
  }
}
