package dev.roost.runtime;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.roost.config.RoostConfig;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The runtime of this server and its limits. */
@Path("/v1/runtime")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Runtime")
public class RuntimeResource {
  private final Runtime runtime;
  private final RoostConfig config;
  private final String version;

  RuntimeResource(
      Runtime runtime,
      RoostConfig config,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    this.runtime = runtime;
    this.config = config;
    this.version = version;
  }

  /**
   * @param defaultVersion the Python version of agents that choose none
   */
  @Schema(name = "Runtime")
  record View(
      @Schema(
              enumeration = {"local", "kubernetes"},
              description =
                  "Where builds and executors run: as processes on this machine, or in a cluster",
              examples = "local")
          String kind,
      @Schema(
              description = "Python versions that agents can use, oldest first",
              examples = "[\"3.11\", \"3.13\"]")
          List<String> pythonVersions,
      @JsonProperty("default")
          @Schema(
              name = "default",
              description = "The default Python version of agents",
              examples = "3.13")
          String defaultVersion,
      @Schema(
              description =
                  "The operating system and architecture for which packages are installed",
              examples = "linux/amd64")
          String platform,
      @Schema(description = "The maximum number of executors at the same time", examples = "32")
          int maxExecutors,
      @Schema(description = "The sandbox that isolates scripts and builds from the machine")
          SandboxView sandbox,
      @Schema(description = "What limits the processes of an executor or a build")
          ProcessLimitView processLimit,
      @Schema(
              enumeration = {"all", "none", "ports", "addresses"},
              description =
                  "How an agent's egress can be restricted. `addresses`: lists are enforced completely. "
                      + "`ports`: lists are enforced for ports only, at all addresses, including those of this "
                      + "machine. `none`: lists are not supported, but none is. `all`: egress cannot be "
                      + "restricted")
          String egress,
      @Schema(
              description =
                  "Profiles of pods that agents can use, as named by the operator; [] for none",
              examples = "[\"gvisor\"]")
          List<String> profiles,
      @Schema(description = "The limits of memory and CPU for agents of each profile")
          List<ProfileLimits> profileLimits,
      @Schema(description = "The version of Roost") String version,
      @Schema(description = "The configured limits") Limits limits) {}

  /** The maximum values for agents of a profile. */
  @Schema(name = "ProfileLimits")
  record ProfileLimits(
      @Schema(examples = "gpu", description = "Its name") String profile,
      @Schema(description = "MiB of memory", examples = "65536") int agentMemoryMib,
      @Schema(description = "Cores", examples = "16") double agentCpu) {
    static ProfileLimits of(String profile, Runtime.AgentLimits own, RoostConfig.Limits all) {
      return new ProfileLimits(
          profile,
          own.memoryMib() == null ? all.agentMemoryMib() : own.memoryMib(),
          own.cpu() == null ? all.agentCpu() : own.cpu());
    }
  }

  /** What confines scripts. */
  @Schema(name = "Sandbox")
  record SandboxView(
      @Schema(
              enumeration = {
                "landlock+seccomp",
                "landlock",
                "bubblewrap+landlock+seccomp",
                "bubblewrap+landlock",
                "container",
                "none"
              },
              description = "The kind of sandbox; `container` on Kubernetes")
          String mechanism,
      @Schema(
              description =
                  "The Landlock ABI version of this kernel, 0 if Landlock is not supported; null if it was "
                      + "not checked",
              nullable = true,
              examples = "7")
          Integer landlockAbi,
      @Schema(
              description =
                  "Whether each executor has its own shared memory, semaphores and message queues, or "
                      + "shares those of the machine")
          boolean privateIpc,
      @Schema(description = "What is not isolated and why, or null", nullable = true)
          String message) {
    static SandboxView of(Runtime.Sandbox sandbox) {
      return new SandboxView(
          sandbox.mechanism(), sandbox.landlockAbi(), sandbox.privateIpc(), sandbox.message());
    }
  }

  /** What limits processes. */
  @Schema(name = "ProcessLimit")
  record ProcessLimitView(
      @Schema(
              enumeration = {"cgroup", "rlimit", "container", "none"},
              description =
                  "`cgroup`: a control group for each executor and build. `rlimit`: a limit on the "
                      + "processes of the user that runs Roost. `container`: on Kubernetes, where nodes limit "
                      + "pods. `none`: no limit")
          String mechanism,
      @Schema(
              description =
                  "The maximum number of processes and threads of an executor or a build; null if Roost "
                      + "does not limit them",
              nullable = true,
              examples = "1024")
          Integer maxProcesses,
      @Schema(description = "Why control groups are not used, or null", nullable = true)
          String message) {
    static ProcessLimitView of(Runtime.ProcessLimit limit) {
      return new ProcessLimitView(limit.mechanism(), limit.maxProcesses(), limit.message());
    }
  }

  /** The configured limits. */
  record Limits(
      @Schema(description = "Bytes of an agent's script") int scriptBytes,
      @Schema(description = "Bytes of an agent's requirements") int requirementsBytes,
      @Schema(description = "Lines of an agent's requirements") int requirementsLines,
      @Schema(description = "Bytes of an agent's environment variables") int envVarsBytes,
      @Schema(description = "MiB of memory that an agent may request") int agentMemoryMib,
      @Schema(description = "CPU cores that an agent may request") double agentCpu,
      @Schema(description = "Bytes of a payload's JSON text") int payloadBytes,
      @Schema(description = "Bytes of a return value's JSON text") int returnValueBytes,
      @Schema(description = "Bytes of a log line; longer lines are split") int logLineBytes,
      @Schema(
              description =
                  "Bytes of an execution's log; beyond the limit, only the end of the log is kept in "
                      + "addition")
          int logBytes,
      @Schema(description = "Bytes of a DataStore's key, in UTF-8") int storeKeyBytes,
      @Schema(description = "Bytes of a DataStore's value, as JSON text") int storeValueBytes,
      @Schema(description = "Bytes of a DataStore: its keys and values") long storeBytes,
      @Schema(description = "Queued ExecutorJobs of one agent; further jobs are rejected")
          int queuedExecutorJobs,
      @Schema(description = "Requests per minute of one API key; 0 for unlimited")
          int requestsPerMinute) {
    static Limits of(RoostConfig.Limits limits) {
      return new Limits(
          limits.scriptBytes(),
          limits.requirementsBytes(),
          limits.requirementsLines(),
          limits.envVarsBytes(),
          limits.agentMemoryMib(),
          limits.agentCpu(),
          limits.payloadBytes(),
          limits.returnValueBytes(),
          limits.logLineBytes(),
          limits.logBytes(),
          limits.storeKeyBytes(),
          limits.storeValueBytes(),
          limits.storeBytes(),
          limits.queuedExecutorJobs(),
          limits.requestsPerMinute());
    }
  }

  @GET
  @Operation(operationId = "getRuntime", summary = "Retrieve the runtime's capabilities and limits")
  public View get() {
    Runtime.Description description = runtime.describe();
    return new View(
        description.kind(),
        description.pythonVersions(),
        description.defaultPythonVersion(),
        description.platform(),
        description.maxExecutors(),
        SandboxView.of(runtime.sandbox()),
        ProcessLimitView.of(runtime.processLimit()),
        runtime.egress().text(),
        description.profiles(),
        description.profiles().stream()
            .map(name -> ProfileLimits.of(name, runtime.limits(name), config.limits()))
            .toList(),
        version,
        Limits.of(config.limits()));
  }
}
