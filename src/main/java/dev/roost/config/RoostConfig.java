package dev.roost.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Every setting. A property {@code roost.builds.index-url} is also the environment variable {@code
 * ROOST_BUILDS_INDEX_URL}.
 */
@ConfigMapping(prefix = "roost")
public interface RoostConfig {
  /** Where builds and executors run: {@code local}. */
  @WithDefault("local")
  String runtime();

  /** The data directory of the local runtime: database, builds, executors, API key. */
  @WithDefault("${user.home}/.roost")
  Path data();

  /** The address to listen on. Anything but loopback lets other machines in. */
  @WithDefault("127.0.0.1")
  String host();

  /** The TCP port to listen on. */
  @WithDefault("8080")
  int port();

  /**
   * How long it goes on serving after the order to stop, not being ready any more, so that whoever
   * sends requests here takes note.
   */
  @WithDefault("0s")
  Duration drain();

  /** Stop when the process that started this one ends; set by the start command. */
  @WithDefault("false")
  boolean exitWithParent();

  /** Whether the first start makes, builds and runs a welcome agent. */
  @WithDefault("true")
  boolean welcome();

  /** Whether this start makes another API key and writes it to the data directory. */
  @WithDefault("false")
  boolean newApiKey();

  Database database();

  Limits limits();

  Builds builds();

  Executors executors();

  Local local();

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

    /** Bytes of a payload's JSON text. */
    @WithDefault("4194304")
    int payloadBytes();

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
    @WithDefault("10000")
    int queuedExecutorJobs();

    /** Requests a minute of one key; 0: unlimited. */
    @WithDefault("0")
    int requestsPerMinute();
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

  /** The processes in which executions run. */
  interface Executors {
    /** How long an executor is trusted to be alive after its last poll or frame. */
    @WithDefault("30s")
    Duration lease();

    /** How long a script has between SIGTERM and SIGKILL. */
    @WithDefault("10s")
    Duration grace();

    /** How long an executor may take from its start to its first poll. */
    @WithDefault("60s")
    Duration startTimeout();

    /** The time after which an executor that can't be reached is given up. */
    @WithDefault("120s")
    Duration lostAfter();
  }

  /** The local runtime. */
  interface Local {
    /** Executors at the same time, of all agents together. */
    @WithDefault("32")
    int maxExecutors();
  }

  /** How long what has ended is kept. */
  interface Retention {
    /** Executions, their logs and their ExecutorJobs. */
    @WithDefault("30d")
    Duration executions();

    /** Builds that no agent's current revision uses. */
    @WithDefault("7d")
    Duration unusedBuilds();
  }
}
