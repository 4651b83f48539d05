package dev.roost.runtime.kubernetes;

import dev.roost.api.Text;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Pattern;

/** Names and labels of objects, which map to identifiers and back. */
final class ObjectNames {
  static final String INSTANCE = "app.kubernetes.io/instance";
  static final String COMPONENT = "app.kubernetes.io/component";
  static final String EXECUTOR = "executor";
  static final String BUILDER = "builder";
  static final String REMOVER = "remover";

  /** Kubernetes sets this label on the pods of Jobs. */
  static final String JOB_NAME = "batch.kubernetes.io/job-name";

  static final String EXECUTOR_ID = "roost/executor-id";
  static final String BUILDER_JOB_ID = "roost/builder-job-id";
  static final String AGENT_ID = "roost/agent-id";

  /**
   * On executors that were started for a pool: the Build. They have an agent once one needs them.
   */
  static final String POOL = "roost/pool";

  static final String AGENT_NAME = "roost/agent-name";
  static final String AGENT_REVISION = "roost/agent-revision";
  static final String IMAGE_KEY = "roost/image-key";
  static final String REMOVES = "roost/removes";
  static final String LOOKUP = "lookup";
  static final String LOOKS_UP = "roost/looks-up";
  static final String STARTED_FOR = "roost/started-for";
  static final String EXECUTOR_JOB_ID = "roost/executor-job-id";

  /**
   * On pods whose egress is limited to DNS, the control plane and their own policy's destinations.
   */
  static final String EGRESS = "roost/egress";

  static final String LIMITED = "limited";

  private static final Pattern IDENTIFIER = Pattern.compile("[a-z]+_([0-9a-z]{1,50})");

  private ObjectNames() {}

  /** The Job (and the Secret) of an executor: {@code executor_01…} is {@code executor-01…}. */
  static String executor(String executorId) {
    return EXECUTOR + "-" + unique(executorId);
  }

  /** The Job of a build: {@code bjob_01…} is {@code builder-01…}. */
  static String builder(String builderJobId) {
    return BUILDER + "-" + unique(builderJobId);
  }

  /** The Job that removes an image: {@code sha256:0f3a…} is {@code remover-0f3a…}. */
  static String remover(String digest) {
    String hexadecimal = digest.substring(digest.indexOf(':') + 1);
    return REMOVER + "-" + hexadecimal.substring(0, Math.min(hexadecimal.length(), 40));
  }

  /** The Job that looks up an image's tag. */
  static String lookup(String image) {
    return LOOKUP + "-" + HexFormat.of().formatHex(Text.sha256(image)).substring(0, 40);
  }

  static Map<String, String> labels(String instance, String component) {
    return Map.of(
        "app.kubernetes.io/name",
        "roost",
        INSTANCE,
        instance,
        COMPONENT,
        component,
        "app.kubernetes.io/part-of",
        "roost",
        "app.kubernetes.io/managed-by",
        "roost");
  }

  private static String unique(String id) {
    var match = IDENTIFIER.matcher(id);
    if (!match.matches()) {
      throw new IllegalArgumentException("not an identifier: " + id);
    }
    return match.group(1);
  }
}
