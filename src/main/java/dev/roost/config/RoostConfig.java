package dev.roost.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every setting. A property {@code roost.builds.index-url} is also the environment variable {@code
 * ROOST_BUILDS_INDEX_URL}.
 */
@ConfigMapping(prefix = "roost")
public interface RoostConfig {
  /** Where builds and executors run: {@code local} or {@code kubernetes}. */
  @WithDefault("local")
  String runtime();

  /** The data directory: the embedded database, the first API key, the local runtime's files. */
  @WithDefault("${user.home}/.roost")
  Path data();

  /**
   * The address to listen on. Any address other than loopback accepts connections from other
   * machines.
   */
  @WithDefault("127.0.0.1")
  String host();

  /** The TCP port to listen on. */
  @OrZero
  @WithDefault("8080")
  int port();

  /**
   * The URL at which people open the dashboard, for links in notifications, for example {@code
   * https://roost.example.org}. Without it, notifications have no links.
   */
  Optional<String> publicUrl();

  /**
   * How long Roost keeps serving requests after SIGTERM while it reports that it is not ready, so
   * that load balancers stop sending requests to it.
   */
  @OrZero
  @WithDefault("0s")
  Duration drain();

  /**
   * A separate TCP port for executors. If it is set, only this port serves executors, and it serves
   * nothing else.
   */
  Optional<Integer> internalPort();

  /**
   * A separate TCP port that serves {@code /metrics} for Prometheus and nothing else, without
   * authentication. By default, metrics are at {@code /v1/metrics} and require an API key.
   */
  Optional<Integer> metricsPort();

  /** Traces of requests and executions, by OpenTelemetry. */
  Traces traces();

  /** Stop when the process that started this one ends; set by the start command. */
  @WithDefault("false")
  boolean exitWithParent();

  /** The format of log lines on the console: {@code text} or {@code json}. */
  @WithDefault("text")
  String logFormat();

  /** Whether the first start creates, builds and runs a welcome agent. */
  @WithDefault("true")
  boolean welcome();

  /** Whether this start creates another API key and writes it to the data directory. */
  @WithDefault("false")
  boolean newApiKey();

  /**
   * A file with an API key, {@code roost_<id>_<secret>}. Every start ensures that the key exists
   * with the role {@code write}.
   */
  Optional<Path> apiKeyFile();

  /**
   * Whether each request is logged after its response: method, path, status, duration, client,
   * request id and the id of the API key. Requests of executors and health checks are logged at
   * level {@code DEBUG} only, in the category {@code dev.roost.access}.
   */
  @WithDefault("false")
  boolean accessLog();

  Database database();

  Sessions sessions();

  Oauth oauth();

  Limits limits();

  Storage storage();

  Files files();

  Builds builds();

  /** Updates of existing agents to a newer base or SDK. */
  Rollouts rollouts();

  Executors executors();

  Link link();

  Local local();

  Kubernetes kubernetes();

  Schedules schedules();

  Webhooks webhooks();

  Notifications notifications();

  Mail mail();

  Retention retention();

  /** The API for clients of SwarmNode. */
  Swarmnode swarmnode();

  /** An external PostgreSQL. Without it, the local runtime starts an embedded one. */
  interface Database {
    /** JDBC URL, for example {@code jdbc:postgresql://db.example.org/roost}. */
    Optional<String> url();

    /** The database role. It must be allowed to create tables. */
    Optional<String> username();

    /** The password of the database role. */
    Optional<String> password();
  }

  /**
   * Access tokens of an identity provider, which the API and {@code /mcp} take besides API keys.
   */
  interface Oauth {
    /**
     * The identity provider (OAuth authorization server): an {@code https} URL, exactly as its
     * tokens have it in {@code iss}. Without it, only API keys are taken. Requires {@code
     * roost.public-url}.
     */
    Optional<String> issuer();

    /**
     * What tokens must have in {@code aud}: one of these. By default, {@code roost.public-url}, and
     * that with {@code /mcp} and {@code /mcp/admin}.
     */
    Optional<List<String>> audience();

    /**
     * The claim with the roles of a token: text with spaces between them, or a list. Names with
     * dots between them lead into objects, for example {@code realm_access.roles}.
     */
    @WithDefault("scope")
    String rolesClaim();

    /** The value of the claim for the role {@code read}. */
    @WithDefault("roost:read")
    String readRole();

    /** The value of the claim for the role {@code execute}. */
    @WithDefault("roost:execute")
    String executeRole();

    /** The value of the claim for the role {@code write}. */
    @WithDefault("roost:write")
    String writeRole();

    /** The URL of the issuer's keys (JWKS). By default, what the issuer's metadata says. */
    Optional<String> jwksUrl();

    /** PEM file with certificate authorities to trust; by default, those of Java. */
    Optional<Path> ca();
  }

  /** Dashboard sessions. */
  interface Sessions {
    /**
     * How long a session lasts after its last use. If this is a day or less, use does not extend
     * the session.
     */
    @WithDefault("14d")
    Duration lifetime();
  }

  /**
   * Limits of requests and executions. Requests beyond a limit return 413, 422 or 429; executions
   * fail with a reason.
   */
  interface Limits {
    /** Bytes of an agent's script. */
    @WithDefault("1048576")
    int scriptBytes();

    /** Bytes of an agent's requirements. */
    @WithDefault("65536")
    int requirementsBytes();

    /** Lines of an agent's requirements. */
    @WithDefault("500")
    int requirementsLines();

    /** Bytes of an agent's environment variables. */
    @WithDefault("65536")
    int envVarsBytes();

    /** Maximum memory of an agent, MiB. */
    @WithDefault("16384")
    int agentMemoryMib();

    /** Maximum CPU of an agent, cores. */
    @WithDefault("16")
    double agentCpu();

    /** Bytes of a payload's JSON text. */
    @WithDefault("4194304")
    int payloadBytes();

    /** Bytes of the request that executes an agent with many payloads. */
    @WithDefault("67108864")
    int batchBytes();

    /** Bytes of a return value's JSON text. */
    @WithDefault("16777216")
    int returnValueBytes();

    /** Bytes of a log line; longer lines are split. */
    @WithDefault("65536")
    int logLineBytes();

    /** Bytes of an execution's log. */
    @WithDefault("33554432")
    int logBytes();

    /** Bytes of the end of the log that are kept in addition if the log is longer. */
    @OrZero
    @WithDefault("1048576")
    int logTailBytes();

    /** Processes of one execution at a time. */
    @WithDefault("256")
    int processes();

    /** Size of an execution's working directory, MiB. */
    @WithDefault("1024")
    int workDirectoryMib();

    /** Bytes of a DataStore's key. */
    @WithDefault("512")
    int storeKeyBytes();

    /** Bytes of a DataStore's value. */
    @WithDefault("1048576")
    int storeValueBytes();

    /** Bytes of a DataStore. */
    @WithDefault("1073741824")
    long storeBytes();

    /** Durable steps of one ExecutorJob. */
    @WithDefault("10000")
    int steps();

    /** Bytes of the results of an ExecutorJob's steps together. */
    @WithDefault("16777216")
    int stepBytes();

    /** Bytes of a file that a job reads or makes. */
    @WithDefault("1073741824")
    long fileBytes();

    /** Files of a bundle: of an agent's project. */
    @WithDefault("20000")
    int bundleFiles();

    /** Bytes of the files of a bundle together. */
    @WithDefault("104857600")
    long bundleBytes();

    /** Bytes of a value that a script emits, as JSON text. */
    @WithDefault("1048576")
    int streamValueBytes();

    /** Bytes of all values that an attempt emits. */
    @WithDefault("268435456")
    long streamBytes();

    /** Jobs that call each other, each from the one before. */
    @OrZero
    @WithDefault("100")
    int callDepth();

    /** Events of one name for one job, or with one key, that no script has received. */
    @OrZero
    @WithDefault("10000")
    int waitingEvents();

    /** Queued ExecutorJobs of one agent. */
    @OrZero
    @WithDefault("10000")
    int queuedExecutorJobs();

    /** Requests per minute of one API key; 0: unlimited. */
    @OrZero
    @WithDefault("0")
    int requestsPerMinute();

    /**
     * Open streams of one key: events, logs, exports; 0: unlimited. Each replica counts its own.
     */
    @OrZero
    @WithDefault("100")
    int streamsPerKey();

    /** Open streams of all keys together; 0: unlimited. Each replica counts its own. */
    @OrZero
    @WithDefault("500")
    int streams();

    /**
     * Memory for request bodies in bytes; 0: half of the heap. Beyond it, requests wait and are
     * then rejected with 503.
     */
    @WithDefault("0")
    long bodyMemoryBytes();

    /** How long the body of a request may take to arrive. */
    @WithDefault("30s")
    Duration bodyTimeout();

    /** Concurrent connections; further connections are closed immediately. */
    @WithDefault("4096")
    int connections();
  }

  /**
   * Limits of all stored data, which Roost estimates every few seconds. Beyond a limit, new jobs,
   * agents and entries are rejected with 507, and logs are truncated; running executions and
   * deletions are not affected.
   */
  interface Storage {
    /** Bytes of all logs; 0: unlimited. Beyond it, the rest of each log is omitted. */
    @WithDefault("0")
    long logBytes();

    /**
     * Bytes of all payloads, return values and jobs, without those values that are stored as files;
     * 0: unlimited.
     */
    @WithDefault("0")
    long payloadBytes();

    /** Bytes of all DataStores together; 0: unlimited. */
    @WithDefault("0")
    long storeBytes();

    /** Bytes of all files of jobs together; 0: unlimited. */
    @WithDefault("0")
    long fileBytes();

    /**
     * Required free bytes on the disk of the data directory, where the embedded database is; 0:
     * none.
     */
    @OrZero
    @WithDefault("536870912")
    long freeBytes();
  }

  /** Files that jobs read and make, and where their bytes are. */
  interface Files {
    /**
     * The directory of the files, which all replicas must share. If it is not set, the local
     * runtime uses {@code files} of the data directory; on Kubernetes there are no files without it
     * or a bucket.
     */
    Optional<Path> directory();

    /** A bucket of an S3-compatible storage, instead of the directory. */
    Optional<String> bucket();

    /** What the names of its objects begin with, for a bucket that others use, too. */
    Optional<String> prefix();

    /** The storage's URL; if it is not set, that of Amazon S3 in the region. */
    Optional<String> endpoint();

    /** The region; storages of others mostly accept any. */
    @WithDefault("us-east-1")
    String region();

    /**
     * The ID of the access key. If it is not set, credentials are found as the AWS SDK does it: in
     * its environment variables, its files, or from the machine or the pod.
     */
    Optional<String> accessKey();

    /** The secret of the access key. */
    Optional<String> secretKey();
  }

  /** How dependencies are installed. */
  interface Builds {
    /** The time after which a build fails. */
    @WithDefault("15m")
    Duration timeout();

    /** Builds that run at the same time. */
    @WithDefault("2")
    int concurrency();

    /** URL of the package index; by default, that of uv's or pip's own settings. */
    Optional<String> indexUrl();
  }

  /** Traces of requests and executions, by OpenTelemetry. */
  interface Traces {
    /**
     * URL of the collector to which Roost sends its spans (OTLP over HTTP), for example {@code
     * http://collector:4318}. Without it, Roost creates no spans, and only passes the caller's
     * trace to the script.
     */
    Optional<String> endpoint();

    /**
     * URL of the collector for scripts, in their variable {@code OTEL_EXPORTER_OTLP_ENDPOINT} if
     * they have {@code TRACEPARENT}; by default, Roost's collector.
     */
    Optional<String> scriptEndpoint();
  }

  /** Rollouts of new Builds to agents. */
  interface Rollouts {
    /** Whether Roost starts a rollout when the base or the SDK of agents' Builds is outdated. */
    @WithDefault("true")
    boolean automatic();

    /**
     * Minimum age of a Build before an automatic rollout replaces it. During an upgrade, a newer
     * Build may be from a replica with newer settings.
     */
    @OrZero
    @WithDefault("10m")
    Duration minAge();

    /** Concurrent builds of a rollout. */
    @WithDefault("2")
    int parallel();

    /**
     * JSON file with vulnerabilities of base images: a list of objects with {@code image} (a
     * digest), {@code id} and optionally {@code severity} and {@code summary}. Outdated agents then
     * list what the current base fixes. The file is reloaded when it changes.
     */
    Optional<Path> advisories();
  }

  /** The processes in which executions run. */
  interface Executors {
    /** How long an executor counts as alive after its last poll or frame. */
    @WithDefault("30s")
    Duration lease();

    /** Sleeps of scripts that last longer end the process, and suspend the job. */
    @OrZero
    @WithDefault("10s")
    Duration suspendAfter();

    /** How long a script has between SIGTERM and SIGKILL. */
    @OrZero
    @WithDefault("10s")
    Duration grace();

    /**
     * Maximum number of executors that are started before an agent needs them; 0: none. They count
     * toward the maximum number of executors, and stop when others need their capacity.
     */
    @OrZero
    @WithDefault("2")
    int pool();

    /** How long an executor may take from its start to its first poll. */
    @WithDefault("60s")
    Duration startTimeout();

    /**
     * How long an executor or a build may wait for its image, or for a node that could run it.
     * Waiting for capacity that others use has no limit.
     */
    @WithDefault("5m")
    Duration pendingTimeout();

    /** The time after which an unreachable executor counts as lost. */
    @WithDefault("120s")
    Duration lostAfter();

    /**
     * How long a script's operation on a DataStore waits for a control plane that does not respond.
     * The timeout of the execution applies, too.
     */
    @OrZero
    @WithDefault("5m")
    Duration storeWait();
  }

  /** TLS between executors and the control plane, on {@code roost.internal-port}. */
  interface Link {
    /**
     * PEM file with the certificate of this port, followed by intermediate certificates. If it is
     * set, the port accepts only TLS. The file is reloaded when it changes.
     */
    Optional<Path> certificate();

    /** PEM file with the certificate's private key. */
    Optional<Path> key();

    /**
     * PEM file with the certificate authorities that executors on Kubernetes trust, read at the
     * start of each executor; by default, those of their image.
     */
    Optional<Path> ca();
  }

  /** The local runtime. */
  interface Local {
    /** Maximum number of executors of all agents. */
    @WithDefault("32")
    int maxExecutors();

    /**
     * Processes and threads of an executor or a build, limited by a control group where one can be
     * created.
     */
    @WithDefault("1024")
    int maxProcesses();

    /**
     * The sandbox of scripts and builds: {@code auto} (the strongest that works on this machine),
     * {@code landlock} or {@code bubblewrap} (Roost does not start without it; bubblewrap is used
     * in addition to Landlock), {@code off}.
     */
    @WithDefault("auto")
    String sandbox();

    /** Paths that scripts and builds may read, in addition to those that every program needs. */
    Optional<List<Path>> sandboxReadable();

    /** Paths that scripts and builds may read and write, including devices. */
    Optional<List<Path>> sandboxWritable();
  }

  /** The Kubernetes runtime. */
  interface Kubernetes {
    /** The namespace of builds and executors. No other installation may use it. */
    @WithDefault("roost-agents")
    String namespace();

    /**
     * The name of the installation: the label {@code app.kubernetes.io/instance} of all its
     * objects.
     */
    @WithDefault("roost")
    String instance();

    /** The address at which executors reach the control plane. */
    Optional<String> executorUrl();

    /** Where built images are pushed, for example {@code registry.example.org/roost/agents}. */
    Optional<String> repository();

    /** The name under which nodes pull from the repository, if it differs. */
    Optional<String> pullRepository();

    /** Whether builds use plain HTTP for the registry. */
    @WithDefault("false")
    boolean insecureRegistry();

    /** Secret of type {@code kubernetes.io/dockerconfigjson} with which builds pull and push. */
    Optional<String> registrySecret();

    /** Secrets with which nodes pull images. */
    Optional<List<String>> imagePullSecrets();

    /** Secret with a {@code netrc} for the package index. */
    Optional<String> indexSecret();

    /**
     * ConfigMap with a {@code ca.crt}: certificate authorities that builds trust, in addition to
     * the default ones.
     */
    Optional<String> caConfigMap();

    /** Image of {@code images/builder}. */
    @WithDefault("roost/builder")
    String builderImage();

    /** Image of {@code images/executor}. */
    @WithDefault("roost/executor")
    String executorImage();

    /** The Python versions that agents can use, oldest first. */
    @WithDefault("3.9,3.10,3.11,3.12,3.13,3.14")
    List<String> pythonVersions();

    /** The default Python version of agents. */
    @WithDefault("3.13")
    String defaultPythonVersion();

    /** The image on which dependencies are installed; {version} stands for the Python version. */
    @WithDefault("docker.io/library/python:{version}-slim")
    String baseImage();

    /** The base images of individual Python versions, for example pinned by digest. */
    Map<String, String> baseImages();

    /**
     * How often the digests of the base images' tags are resolved; 0s: never, so that a base image
     * counts as new only if its name in the settings changes.
     */
    @OrZero
    @WithDefault("6h")
    Duration baseImageCheck();

    /** Platform of the nodes. */
    @WithDefault("linux/amd64")
    String platform();

    /** Maximum number of executors of all agents. */
    @WithDefault("100")
    int maxExecutors();

    /** Service account of builds and executors; it needs no permissions. */
    @WithDefault("default")
    String serviceAccount();

    /** Labels of the nodes on which builds and executors may run. */
    Map<String, String> nodeSelector();

    /** Tolerations of builds and executors: a JSON list as in a pod. */
    Optional<String> tolerations();

    /**
     * Profiles of pods that agents can use: a JSON object, by name, of {@code runtimeClassName},
     * {@code hostUsers}, {@code seccompProfile}, {@code nodeSelector}, {@code tolerations} and
     * {@code priorityClassName} as in a pod, and {@code extendedResources}, {@code
     * ephemeralStorage}, {@code cpuLimit}, {@code maxMemoryMib} and {@code maxCpu}. The profile
     * {@code default} applies to agents without a profile, and to builds.
     */
    Optional<String> profiles();

    /**
     * Whether network policies restrict pods with the label {@code roost/egress: limited} to DNS
     * and the control plane, as those of the chart do. Agents can restrict their {@code egress}
     * only if this is true.
     */
    @WithDefault("false")
    boolean networkPolicies();

    /** CIDR blocks that agents' {@code egress} cannot allow. */
    Optional<List<Network>> egressExcept();

    /** Exceptions from these blocks, for example {@code 10.20.0.7:443,10.21.0.0/16:*}. */
    Optional<List<String>> egressAllowed();

    /** Memory limit of a build, MiB. */
    @WithDefault("2048")
    int builderMemoryMib();

    /** CPU limit of a build, cores. */
    @WithDefault("2")
    double builderCpu();

    /** Disk that a build may use, MiB. */
    @WithDefault("8192")
    int builderDiskMib();

    /** How much of its CPU limit a pod reserves, from 0 to 1. */
    @OrZero
    @WithDefault("0.1")
    double cpuRequestRatio();

    /** How much of its memory limit a pod reserves, from 0 to 1. */
    @OrZero
    @WithDefault("1")
    double memoryRequestRatio();
  }

  /** Schedules of agents. */
  interface Schedules {
    /**
     * How long a run may be overdue before it counts as missed, so that the schedule's {@code
     * missed_runs} applies.
     */
    @OrZero
    @WithDefault("60s")
    Duration missedAfter();
  }

  /** Delivery of events to webhooks. */
  interface Webhooks {
    /**
     * CIDR blocks of non-public addresses that webhooks may reach, for example {@code
     * 10.1.0.0/16,fd00::/8}.
     */
    Optional<List<Network>> allowedNetworks();

    /** Timeout of a delivery, from the DNS lookup to the response; 0.1 to 60 seconds. */
    @WithDefault("10s")
    Duration timeout();
  }

  /** Messages about issues and failed builds to people. */
  interface Notifications {
    /** How long notifications are collected before a channel sends them as one message. */
    @OrZero
    @WithDefault("60s")
    Duration delay();
  }

  /** The mail server (SMTP) that sends notifications. */
  interface Mail {
    /** Name or address of the mail server. Without it, channels cannot send e-mail. */
    Optional<String> host();

    /** The TCP port of the mail server; usually 587 for {@code starttls}, 465 for {@code tls}. */
    @WithDefault("587")
    int port();

    /**
     * Encryption: {@code starttls} (the connection must change to TLS before anything is sent),
     * {@code tls} (from its beginning) or {@code off} (only without a user).
     */
    @WithDefault("starttls")
    String encryption();

    /** PEM file with certificate authorities to trust; by default, those of Java. */
    Optional<Path> ca();

    /** The user at the mail server. Without it, Roost does not authenticate. */
    Optional<String> user();

    /** The password of the user. */
    Optional<String> password();

    /** A file with the password of the user; read for each message. */
    Optional<Path> passwordFile();

    /** The sender's address, for example {@code roost@example.org}. Required with a host. */
    Optional<String> from();

    /** Timeout of a message, from the connection to the mail server's confirmation. */
    @WithDefault("20s")
    Duration timeout();
  }

  /** The API for clients of SwarmNode, at {@code /compat/swarmnode}. */
  interface Swarmnode {
    /** Bytes of an asset; {@code roost.limits.file-bytes} applies, too. */
    @WithDefault("67108864")
    long assetBytes();

    /** How long an asset can be uploaded and confirmed after its request; less than a day. */
    @WithDefault("1h")
    Duration uploadLifetime();

    /** How long the URL of an asset works after the asset was retrieved. */
    @WithDefault("1h")
    Duration assetUrlLifetime();
  }

  /** How long ended and deleted data is kept. */
  interface Retention {
    /** Executions, their logs and their ExecutorJobs. */
    @OrZero
    @WithDefault("30d")
    Duration executions();

    /** Images or environments of builds that no agent's newest or running revision uses. */
    @OrZero
    @WithDefault("7d")
    Duration unusedBuilds();

    /** Events and their webhook deliveries; at least 2 days. */
    @WithDefault("30d")
    @WithConverter(TwoDaysOrMore.class)
    Duration events();

    /** Events that were sent to scripts, whether one has received them or not; at least 2 days. */
    @WithDefault("30d")
    @WithConverter(TwoDaysOrMore.class)
    Duration jobEvents();

    /** Logs of BuilderJobs, and those BuilderJobs that no revision of an agent refers to. */
    @OrZero
    @WithDefault("90d")
    Duration builderJobs();
  }
}
