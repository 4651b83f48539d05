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

  /** The address to listen on. Anything but loopback lets other machines in. */
  @WithDefault("127.0.0.1")
  String host();

  /** The TCP port to listen on. */
  @OrZero
  @WithDefault("8080")
  int port();

  /**
   * How long it goes on serving after SIGTERM, no longer ready, so that whoever sends requests here
   * takes note.
   */
  @OrZero
  @WithDefault("0s")
  Duration drain();

  /**
   * Another TCP port, on which executors reach the control plane: then only that one serves them,
   * and it serves nothing else.
   */
  Optional<Integer> internalPort();

  /**
   * Another TCP port, which serves {@code /metrics} for Prometheus and nothing else, to everyone
   * who reaches it. Without it, metrics are at {@code /v1/metrics}, for whoever has an API key.
   */
  Optional<Integer> metricsPort();

  /** Traces of requests and executions, by OpenTelemetry. */
  Traces traces();

  /** Stop when the process that started this one ends; set by the start command. */
  @WithDefault("false")
  boolean exitWithParent();

  /**
   * How events are logged on the console: {@code text} for people, {@code json} for programs, one
   * line for each.
   */
  @WithDefault("text")
  String logFormat();

  /** Whether the first start makes, builds and runs a welcome agent. */
  @WithDefault("true")
  boolean welcome();

  /** Whether this start makes another API key and writes it to the data directory. */
  @WithDefault("false")
  boolean newApiKey();

  /**
   * A file with an API key, {@code roost_<id>_<secret>}: every start sees to it that the key exists
   * and may do everything.
   */
  Optional<Path> apiKeyFile();

  /**
   * Whether each request is logged when it has been answered: its method, path, status, duration,
   * client, identifier and the id of its API key. Executors' requests and health checks are logged
   * at level {@code DEBUG} only, by the category {@code dev.roost.access}.
   */
  @WithDefault("false")
  boolean accessLog();

  Database database();

  Sessions sessions();

  Limits limits();

  Storage storage();

  Builds builds();

  /** How a newer base or SDK reaches agents that are built already. */
  Rollouts rollouts();

  Executors executors();

  Link link();

  Local local();

  Kubernetes kubernetes();

  Schedules schedules();

  Webhooks webhooks();

  Retention retention();

  /** A PostgreSQL of the operator's; without it the local runtime starts one of its own. */
  interface Database {
    /** JDBC URL, for example {@code jdbc:postgresql://db.example.org/roost}. */
    Optional<String> url();

    /** The role to sign in as; it must be able to make tables. */
    Optional<String> username();

    /** Its password. */
    Optional<String> password();
  }

  /** People who have signed in to the dashboard. */
  interface Sessions {
    /**
     * How long a session lasts after it was used; one that lasts a day or less is not prolonged by
     * use.
     */
    @WithDefault("14d")
    Duration lifetime();
  }

  /**
   * Bounds on what users send and scripts make; beyond them: 413, 422 or 429, or the execution's
   * own reason.
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

    /** Memory that an agent may ask for, MiB. */
    @WithDefault("16384")
    int agentMemoryMib();

    /** CPU that an agent may ask for, cores. */
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

    /** Bytes of a log line; a longer one is split. */
    @WithDefault("65536")
    int logLineBytes();

    /** Bytes of an execution's log. */
    @WithDefault("33554432")
    int logBytes();

    /** Bytes of the log's end that are kept beside, when it is longer. */
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

    /** ExecutorJobs of one agent that wait. */
    @OrZero
    @WithDefault("10000")
    int queuedExecutorJobs();

    /** Requests a minute of one key; 0: unlimited. */
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
     * Bytes of the memory that requests with a body may need while they are received and read; 0:
     * half of the heap. Beyond it, requests wait, then they are refused with 503.
     */
    @WithDefault("0")
    long bodyMemoryBytes();

    /** How long the body of a request may take to arrive. */
    @WithDefault("30s")
    Duration bodyTimeout();

    /** Connections at the same time; more are closed at once. */
    @WithDefault("4096")
    int connections();
  }

  /**
   * How much is stored in all, as Roost estimates it every few seconds. Beyond a limit, new jobs,
   * agents and entries get 507 and logs are cut; what runs ends, and what is deleted goes.
   */
  interface Storage {
    /** Bytes of all logs; 0: unlimited. Beyond it, the rest of each log is left out. */
    @WithDefault("0")
    long logBytes();

    /** Bytes of all payloads, return values and jobs; 0: unlimited. */
    @WithDefault("0")
    long payloadBytes();

    /** Bytes of all DataStores together; 0: unlimited. */
    @WithDefault("0")
    long storeBytes();

    /**
     * Bytes that are to stay free on the disk of the data directory, where the embedded database
     * is; 0: unlimited.
     */
    @OrZero
    @WithDefault("536870912")
    long freeBytes();
  }

  /** How dependencies are installed. */
  interface Builds {
    /** The time after which a build fails. */
    @WithDefault("15m")
    Duration timeout();

    /** Builds that run at the same time. */
    @WithDefault("2")
    int concurrency();

    /** URL of the package index; without it, what uv's or pip's own settings say. */
    Optional<String> indexUrl();
  }

  /** Traces of requests and executions, by OpenTelemetry. */
  interface Traces {
    /**
     * URL of the collector to which Roost sends its spans by OTLP over HTTP, as in {@code
     * http://collector:4318}. Without it, Roost makes none, and only hands the caller's trace on to
     * the script.
     */
    Optional<String> endpoint();

    /**
     * URL of the collector for scripts, in their variable {@code OTEL_EXPORTER_OTLP_ENDPOINT}
     * whenever they have {@code TRACEPARENT}; without it, the one of Roost.
     */
    Optional<String> scriptEndpoint();
  }

  /** How agents get another Build. */
  interface Rollouts {
    /**
     * Whether a rollout begins by itself when the base or the SDK of agents' Builds is not the
     * current one any more.
     */
    @WithDefault("true")
    boolean automatic();

    /**
     * How old a Build is before a rollout that begins by itself replaces it: a younger one may be
     * of a replica with newer settings, in the middle of an upgrade.
     */
    @OrZero
    @WithDefault("10m")
    Duration minAge();

    /** How many agents at a time a rollout has built. */
    @WithDefault("2")
    int parallel();

    /**
     * JSON file that says what is wrong with base images: a list of objects with {@code image} (its
     * digest), {@code id} and maybe {@code severity} and {@code summary}. Outdated agents then say
     * what the current base fixes. It is read again when it changes.
     */
    Optional<Path> advisories();
  }

  /** The processes in which executions run. */
  interface Executors {
    /** How long an executor is trusted to be alive after its last poll or frame. */
    @WithDefault("30s")
    Duration lease();

    /** How long a script has between SIGTERM and SIGKILL. */
    @OrZero
    @WithDefault("10s")
    Duration grace();

    /** How long an executor may take from its start to its first poll. */
    @WithDefault("60s")
    Duration startTimeout();

    /**
     * How long an executor or a build may wait for its image, or for a machine that could hold it.
     * For what others use now, it waits as long as it takes.
     */
    @WithDefault("5m")
    Duration pendingTimeout();

    /** The time after which an executor that can't be reached is given up. */
    @WithDefault("120s")
    Duration lostAfter();

    /**
     * How long a script's operation on a DataStore waits for a control plane that doesn't answer,
     * at the longest: the execution's time-out is a bound too.
     */
    @OrZero
    @WithDefault("5m")
    Duration storeWait();
  }

  /** TLS between executors and the control plane, on {@code roost.internal-port}. */
  interface Link {
    /**
     * PEM file with the certificate of that port, followed by those between it and its authority;
     * with it, the port speaks TLS alone. It is read again when it changes.
     */
    Optional<Path> certificate();

    /** PEM file with the certificate's private key. */
    Optional<Path> key();

    /**
     * PEM file with the authorities by which executors on Kubernetes know the control plane, read
     * for each executor that starts; without it, those of their image.
     */
    Optional<Path> ca();
  }

  /** The local runtime. */
  interface Local {
    /** Executors at the same time, of all agents together. */
    @WithDefault("32")
    int maxExecutors();

    /**
     * Processes and threads of an executor or a build, kept by a control group of its own where one
     * can be made.
     */
    @WithDefault("1024")
    int maxProcesses();

    /**
     * What confines scripts and builds: {@code auto} (the strongest that works on this machine),
     * {@code landlock} or {@code bubblewrap} (Roost doesn't start without it; bubblewrap comes
     * around Landlock), {@code off}.
     */
    @WithDefault("auto")
    String sandbox();

    /** Paths that scripts and builds may read besides those that every program needs. */
    Optional<List<Path>> sandboxReadable();

    /** Paths that they may read and write, devices included. */
    Optional<List<Path>> sandboxWritable();
  }

  /** The Kubernetes runtime. */
  interface Kubernetes {
    /** The namespace of builds and executors. It belongs to this installation alone. */
    @WithDefault("roost-agents")
    String namespace();

    /**
     * The installation's name, which all its objects carry as {@code app.kubernetes.io/instance}.
     */
    @WithDefault("roost")
    String instance();

    /** The address under which executors reach the control plane. */
    Optional<String> executorUrl();

    /** Where built images are pushed, for example {@code registry.example.org/roost/agents}. */
    Optional<String> repository();

    /** The same repository as nodes pull from it, when they know it by another name. */
    Optional<String> pullRepository();

    /** Whether builds talk to the registry by plain HTTP. */
    @WithDefault("false")
    boolean insecureRegistry();

    /** Secret of type {@code kubernetes.io/dockerconfigjson} with which builds pull and push. */
    Optional<String> registrySecret();

    /** Secrets with which nodes pull images. */
    Optional<List<String>> imagePullSecrets();

    /** Secret with a {@code netrc} for the package index. */
    Optional<String> indexSecret();

    /** ConfigMap with a {@code ca.crt}: authorities that builds trust besides the usual ones. */
    Optional<String> caConfigMap();

    /** Image of {@code images/builder}. */
    @WithDefault("roost/builder")
    String builderImage();

    /** Image of {@code images/executor}. */
    @WithDefault("roost/executor")
    String executorImage();

    /** The Python versions that agents can choose, oldest first. */
    @WithDefault("3.9,3.10,3.11,3.12,3.13,3.14")
    List<String> pythonVersions();

    /** The one of an agent that chooses none. */
    @WithDefault("3.13")
    String defaultPythonVersion();

    /** The image on which dependencies are installed; {version} stands for the Python's. */
    @WithDefault("docker.io/library/python:{version}-slim")
    String baseImage();

    /** The base images of single Python versions, for example pinned by digest. */
    Map<String, String> baseImages();

    /**
     * How often the digests are looked up that the base images' tags name; 0s: never, so a base
     * image counts as new only when its name in the settings changes.
     */
    @OrZero
    @WithDefault("6h")
    Duration baseImageCheck();

    /** Platform of the nodes. */
    @WithDefault("linux/amd64")
    String platform();

    /** Executors at the same time, of all agents together. */
    @WithDefault("100")
    int maxExecutors();

    /** Service account of builds and executors; it needs no rights. */
    @WithDefault("default")
    String serviceAccount();

    /** Labels of the nodes on which builds and executors may run. */
    Map<String, String> nodeSelector();

    /** Tolerations of builds and executors: a JSON list as in a pod. */
    Optional<String> tolerations();

    /**
     * Profiles of pods that agents can choose: a JSON object, by name, of {@code runtimeClassName},
     * {@code hostUsers}, {@code seccompProfile}, {@code nodeSelector}, {@code tolerations} and
     * {@code priorityClassName} as in a pod, and {@code extendedResources}, {@code
     * ephemeralStorage}, {@code cpuLimit}, {@code maxMemoryMib} and {@code maxCpu}. The one named
     * {@code default} is that of agents that choose none, and of builds.
     */
    Optional<String> profiles();

    /**
     * Whether network policies keep pods with the label {@code roost/egress: limited} from
     * everything but DNS and the control plane, as those of the chart do; only then can agents
     * limit their {@code egress}.
     */
    @WithDefault("false")
    boolean networkPolicies();

    /** Blocks of addresses that an agent's {@code egress} opens no way to. */
    Optional<List<Network>> egressExcept();

    /**
     * Destinations that an agent's {@code egress} may name all the same, for example {@code
     * 10.20.0.7:443,10.21.0.0/16:*}.
     */
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

  /** What runs agents by itself. */
  interface Schedules {
    /**
     * How long a scheduled time may have been due before it counts as missed, so that the
     * schedule's {@code missed_runs} says what becomes of it.
     */
    @OrZero
    @WithDefault("60s")
    Duration missedAfter();
  }

  /** Who is told of events. */
  interface Webhooks {
    /**
     * Blocks of addresses that webhooks may reach although they are not public, for example {@code
     * 10.1.0.0/16,fd00::/8}.
     */
    Optional<List<Network>> allowedNetworks();

    /** How long a receiver has to answer, from the look-up of its name on; 0.1 to 60 seconds. */
    @WithDefault("10s")
    Duration timeout();
  }

  /** How long what has ended is kept. */
  interface Retention {
    /** Executions, their logs and their ExecutorJobs. */
    @OrZero
    @WithDefault("30d")
    Duration executions();

    /** Images or environments of builds that no agent's newest or running revision uses. */
    @OrZero
    @WithDefault("7d")
    Duration unusedBuilds();

    /** Events, and what webhooks have delivered of them; at least 2 days. */
    @WithDefault("30d")
    @WithConverter(TwoDaysOrMore.class)
    Duration events();

    /** Logs of BuilderJobs, and those BuilderJobs that no revision of an agent refers to. */
    @OrZero
    @WithDefault("90d")
    Duration builderJobs();
  }
}
