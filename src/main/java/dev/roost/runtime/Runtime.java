package dev.roost.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Where builds and executors run. Everything above this interface is the same code on every
 * runtime.
 *
 * <p>Every {@code start…} is idempotent: an existing build or executor with the identifier is
 * adopted. Builds and executors outlive the control plane, so the runtime keeps no state and
 * observes instead. Methods block and may throw {@link RuntimeUnavailable} when the runtime doesn't
 * respond; that proves nothing about what runs there.
 */
public interface Runtime extends AutoCloseable {
  Description describe();

  /** What isolates scripts and builds from the rest of the machine. */
  default Sandbox sandbox() {
    return new Sandbox("container", null, true, null);
  }

  /** What limits the processes of an executor or a build. */
  default ProcessLimit processLimit() {
    return new ProcessLimit("container", null, null);
  }

  /**
   * Identifies the base on which dependencies of that Python version are installed: the digest of
   * the base image, or the local interpreter. It is part of the image key.
   *
   * @throws UnsupportedPython when {@link Description#pythonVersions} doesn't contain the version
   */
  String baseIdentity(String pythonVersion);

  /**
   * Whether a build is possible on a base that {@link #baseIdentity} returned on another replica,
   * or on this one with other settings.
   */
  boolean buildsOn(String pythonVersion, String base);

  /**
   * Looks up the digest that the tag of the base image has now. Call this again while the look-up
   * is in progress.
   *
   * @throws UnsupportedPython
   */
  default BaseLookup lookUpBase(String pythonVersion) {
    return BaseLookup.NONE;
  }

  /** Which egress rules the runtime can enforce. */
  default EgressScope egress() {
    return EgressScope.ALL;
  }

  /** Why this runtime can't enforce an agent's egress, for a person; empty: it can. */
  default Optional<String> refusal(Egress egress) {
    return egress.everything()
        ? Optional.empty()
        : Optional.of("This Roost cannot restrict egress; egress must be \"all\".");
  }

  /** Why executors can't be started with this profile and egress, for a person; empty: they can. */
  default Optional<String> refusal(String profile, Egress egress) {
    if (profile != null && !describe().profiles().contains(profile)) {
      return Optional.of("This Roost doesn't offer the profile \"" + profile + "\".");
    }
    return refusal(egress);
  }

  /**
   * @throws NoCapacity no part of the build was created
   */
  void startBuild(BuildSpec spec);

  Observation observeBuild(String builderJobId);

  /**
   * The complete lines of a build's output after a position.
   *
   * @param position 0, or the {@link BuildOutput#next} of the previous call
   */
  BuildOutput buildOutput(String builderJobId, long position);

  /** Ends the build if it still runs and removes its leftovers. The Build itself stays. */
  void deleteBuilderJob(String builderJobId);

  /** Whether the Build of this image key still exists. */
  boolean hasBuild(String imageKey);

  /**
   * Removes the unused parts of a Build; an absent part is no error. A removal can take several
   * calls: call this again with the same arguments, also after a restart, until the removal has
   * ended. Until then no build of that key may start.
   *
   * @param image the image of the Build when nothing else uses it; otherwise null
   * @throws RuntimeUnavailable the progress is unknown: call again
   */
  Removal deleteBuild(String imageKey, String image);

  /**
   * The image keys of the Builds that have existed here since that time or longer, including Builds
   * that the database doesn't know.
   *
   * @return an empty set when the runtime can't list Builds
   */
  default Set<String> builds(Instant since) {
    return Set.of();
  }

  /**
   * Frees the space that only removed Builds used.
   *
   * @return whether this is done; if not, call again much later
   */
  default boolean tidyUp() {
    return true;
  }

  /**
   * @throws NoCapacity no part of the executor was created
   */
  void startExecutor(ExecutorSpec spec);

  /**
   * The limits of agents with a profile, where they differ from the general ones.
   *
   * @param profile null: the default
   */
  default AgentLimits limits(String profile) {
    return new AgentLimits(null, null);
  }

  /**
   * Whether the end of an executor can resolve a shortage.
   *
   * @param profile of the build or executor with the shortage; null: the default
   * @param other the profile of the executor that would end
   */
  default boolean helps(Shortage shortage, String profile, String other) {
    return true;
  }

  Observation observeExecutor(String executorId);

  /**
   * Why a running executor is about to end or can't be reached.
   *
   * @return empty: the runtime knows no cause
   */
  default Optional<Observation.Ended> causeOfEnd(String executorId) {
    return Optional.empty();
  }

  /** The identifiers of all executors that exist here, including ended ones. */
  Set<String> executors();

  /** The output of an ended executor, to recover what did not arrive over the link. */
  ExecutorOutput executorOutput(String executorId) throws IOException;

  /**
   * Ends the executor if it still runs, with all processes that it started. Its output stays.
   *
   * @return whether it has ended; if not, call again a little later
   */
  boolean stopExecutor(String executorId);

  /**
   * Ends the executor if it still runs, with all processes that it started, and removes its
   * leftovers.
   */
  void deleteExecutor(String executorId);

  /**
   * Shows which job an executor runs in the runtime's own tools. This only helps people: it may
   * fail silently, and a runtime without such tools does nothing.
   */
  default void show(String executorId, String executorJobId) {}

  /**
   * Shows which agent got an executor that was started for a pool. As with {@link #show}.
   *
   * @param labels the agent's, see {@link ExecutorSpec#labels}
   */
  default void showAgent(String executorId, Map<String, String> labels) {}

  /** The builder jobs that left something here, including ended ones. */
  Set<String> builderJobs();

  /** Called before the control plane ends: ends what can't run without it. */
  @Override
  default void close() {}

  /**
   * The progress of a removal.
   *
   * @param message why it failed, for a person; null otherwise
   */
  record Removal(State state, String message) {
    /** FAILED: the image or Build was not removed, and no removal is in progress. */
    public enum State {
      DONE,
      GOING,
      FAILED
    }

    public static final Removal DONE = new Removal(State.DONE, null);
    public static final Removal GOING = new Removal(State.GOING, null);

    public static Removal failed(String message) {
      return new Removal(State.FAILED, message);
    }
  }

  /**
   * @param kind "local" or "kubernetes"
   * @param pythonVersions those that agents can choose, oldest first, for example "3.11"
   * @param defaultPythonVersion of agents that choose none
   * @param maxExecutors how many executors can run at the same time
   * @param profiles the pod profiles that agents can choose
   */
  record Description(
      String kind,
      List<String> pythonVersions,
      String defaultPythonVersion,
      String platform,
      int maxExecutors,
      List<String> profiles) {}

  /**
   * @param mechanism "landlock+seccomp", "landlock", either after "bubblewrap+", "container" or
   *     "none"
   * @param landlockAbi the version of the kernel's interface, 0 when it has none; null when unknown
   * @param privateIpc whether each executor has its own shared memory and message queues
   * @param message what isn't confined and why, for a person; or null
   */
  record Sandbox(String mechanism, Integer landlockAbi, boolean privateIpc, String message) {
    public boolean isNone() {
      return mechanism.equals("none");
    }
  }

  /**
   * @param mechanism "cgroup", "rlimit", "container" or "none"
   * @param maxProcesses of an executor or a build, threads included; null when Roost sets no limit
   * @param message why there is no control group, for a person; or null
   */
  record ProcessLimit(String mechanism, Integer maxProcesses, String message) {
    public static final String OF_USER = "rlimit";

    public boolean isNone() {
      return mechanism.equals("none");
    }

    public boolean isOfUser() {
      return mechanism.equals(OF_USER);
    }
  }

  /**
   * The progress of the look-up of a base image.
   *
   * @param reference the image that was looked up; null while the look-up is in progress, and when
   *     there is nothing to look up
   * @param digest as in {@code sha256:0f3a…}; null: not found
   * @param message why it was not found; or null
   */
  record BaseLookup(State state, String reference, String digest, String message) {
    /** For a base that is no image, or an image with a digest. */
    public static final BaseLookup NONE = new BaseLookup(State.NONE, null, null, null);

    public static final BaseLookup GOING = new BaseLookup(State.GOING, null, null, null);

    public enum State {
      NONE,
      GOING,
      ENDED
    }

    public static BaseLookup found(String reference, String digest) {
      return new BaseLookup(State.ENDED, reference, digest, null);
    }

    public static BaseLookup failed(String reference, String message) {
      return new BaseLookup(State.ENDED, reference, null, message);
    }
  }

  /**
   * @param base the result of {@link #baseIdentity}, on this replica or another
   * @param timeoutSeconds after which the build ends itself
   */
  record BuildSpec(
      String builderJobId,
      String agentId,
      String imageKey,
      String base,
      String pythonVersion,
      Requirements requirements,
      long timeoutSeconds) {}

  /**
   * @param next the position of the next call; its unit depends on the runtime
   */
  record BuildOutput(List<String> lines, long next) {}

  /**
   * @param image the Build's image, on runtimes with images; otherwise null
   * @param token the executor's bearer token; never in arguments, environment or logs
   * @param profile one of {@link Description#profiles}; null: the default
   * @param labels for people: agent-id, agent-name and agent-revision, and the ExecutorJob for
   *     which the executor was started (started-for); or the Build of its pool (pool)
   */
  record ExecutorSpec(
      String executorId,
      String imageKey,
      String image,
      String pythonVersion,
      String token,
      int memoryMib,
      double cpu,
      String profile,
      Egress egress,
      Map<String, String> labels) {}

  /**
   * @param frames the sidecar's output, frames that aren't log entries; null when there is none
   * @param log the runner's output, log entries; null when there is none
   */
  record ExecutorOutput(InputStream frames, InputStream log) implements AutoCloseable {
    @Override
    public void close() throws IOException {
      try (frames;
          log) {
        // Closes the log even when closing the frames failed.
      }
    }
  }

  /**
   * @param memoryMib null: the general limit
   * @param cpu null: the general limit
   */
  record AgentLimits(Integer memoryMib, Double cpu) {}

  /** The runtime doesn't respond now; try again. */
  final class RuntimeUnavailable extends RuntimeException {
    public RuntimeUnavailable(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The runtime could start the build or executor if others had ended. */
  final class NoCapacity extends RuntimeException {
    private final Shortage shortage;

    public NoCapacity(String message, Shortage shortage, Throwable cause) {
      super(message, cause);
      this.shortage = shortage;
    }

    public Shortage shortage() {
      return shortage;
    }
  }

  /** This runtime doesn't offer that Python version. */
  final class UnsupportedPython extends RuntimeException {
    public UnsupportedPython(String message) {
      super(message);
    }
  }
}
