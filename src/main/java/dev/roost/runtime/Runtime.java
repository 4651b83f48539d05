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
 * <p>Every {@code start…} is idempotent: what exists already under the identifier is adopted. What
 * exists outlives the control plane, so observations are the truth and nothing is remembered here.
 * Methods block and may throw {@link RuntimeUnavailable} when the runtime can't be asked; that
 * proves nothing about what runs there.
 */
public interface Runtime extends AutoCloseable {
  Description describe();

  /** What keeps scripts and builds from the rest of the machine. */
  default Sandbox sandbox() {
    return new Sandbox("container", null, true, null);
  }

  /** What bounds the processes of an executor or a build. */
  default ProcessLimit processLimit() {
    return new ProcessLimit("container", null, null);
  }

  /**
   * What identifies the base on which dependencies of that Python version are installed: the digest
   * of the base image, or the local interpreter. A part of the image key.
   *
   * @throws UnsupportedPython when {@link Description#pythonVersions} doesn't hold it
   */
  String baseIdentity(String pythonVersion);

  /**
   * Whether a build can be made on that base, which another replica, or this one with other
   * settings, answered as {@link #baseIdentity}.
   */
  boolean buildsOn(String pythonVersion, String base);

  /**
   * Goes on looking up what the tag of the base image names now; to be asked again while it is
   * going on.
   *
   * @throws UnsupportedPython
   */
  default BaseLookup lookUpBase(String pythonVersion) {
    return BaseLookup.NONE;
  }

  /** What can be enforced of an agent's egress. */
  default EgressScope egress() {
    return EgressScope.ALL;
  }

  /** Why an agent's egress can't be as given here, for a person; empty: it can. */
  default Optional<String> refusal(Egress egress) {
    return egress.everything()
        ? Optional.empty()
        : Optional.of("This Roost can't limit what scripts reach; egress can only be \"all\".");
  }

  /** Why executors can't be started so here, for a person; empty: they can. */
  default Optional<String> refusal(String profile, Egress egress) {
    if (profile != null && !describe().profiles().contains(profile)) {
      return Optional.of("This Roost doesn't offer the profile \"" + profile + "\".");
    }
    return refusal(egress);
  }

  /**
   * @throws NoCapacity nothing of it is there
   */
  void startBuild(BuildSpec spec);

  Observation observeBuild(String builderJobId);

  /**
   * The complete lines that a build has written since a position.
   *
   * @param position 0, or the {@link BuildOutput#next} of the call before
   */
  BuildOutput buildOutput(String builderJobId, long position);

  /** Ends the build if it still runs and removes what it left. The Build itself stays. */
  void deleteBuilderJob(String builderJobId);

  /** Whether the Build that this image key names is still there to run on. */
  boolean hasBuild(String imageKey);

  /**
   * Removes what nothing uses any more of a Build; what is gone already is no error. It may take
   * its time: call it again until it has come to an end, with the same arguments, also after a
   * restart. Until then no build of that key must begin.
   *
   * @param image the image that the Build made, when nothing else needs that; otherwise null
   * @throws RuntimeUnavailable it is unknown how far it came: call it again
   */
  Removal deleteBuild(String imageKey, String image);

  /**
   * The image keys of the Builds that lie here since then or longer, whoever knows of them.
   *
   * @return none where the runtime can't say
   */
  default Set<String> builds(Instant since) {
    return Set.of();
  }

  /**
   * Gives back what only Builds needed that were removed.
   *
   * @return whether that is done; if not, call again much later
   */
  default boolean tidyUp() {
    return true;
  }

  /**
   * @throws NoCapacity nothing of it is there
   */
  void startExecutor(ExecutorSpec spec);

  /**
   * What an agent may ask for, where that differs from what all may.
   *
   * @param profile null: the default
   */
  default AgentLimits limits(String profile) {
    return new AgentLimits(null, null);
  }

  /**
   * Whether the end of an executor can help what lacks something.
   *
   * @param profile of what lacks it; null: the default
   * @param other the executor's
   */
  default boolean helps(Shortage shortage, String profile, String other) {
    return true;
  }

  Observation observeExecutor(String executorId);

  /**
   * What ends an executor that has not ended yet, or keeps it from being heard.
   *
   * @return empty: nothing that the runtime knows of
   */
  default Optional<Observation.Ended> causeOfEnd(String executorId) {
    return Optional.empty();
  }

  /** The identifiers of all executors that exist here, ended ones included. */
  Set<String> executors();

  /** What an ended executor has written, for what did not arrive over the link. */
  ExecutorOutput executorOutput(String executorId) throws IOException;

  /**
   * Ends the executor if it still runs, with everything that it started; what it wrote stays.
   *
   * @return whether it has ended; if not, call again a little later
   */
  boolean stopExecutor(String executorId);

  /**
   * Ends the executor if it still runs, with everything that it started, and removes what it left.
   */
  void deleteExecutor(String executorId);

  /**
   * Tells whoever looks at the runtime with its own tools what an executor runs now. A help for
   * people: it may fail in silence, and a runtime that has no such tools does nothing.
   */
  default void show(String executorId, String executorJobId) {}

  /** The builder jobs that left something here, ended ones included. */
  Set<String> builderJobs();

  /** The control plane is about to end: what can't live without it ends too. */
  @Override
  default void close() {}

  /**
   * How far it came.
   *
   * @param message why it failed, for a person; null otherwise
   */
  record Removal(State state, String message) {
    /** FAILED: it was not removed, and nothing is at work any more that could. */
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
   * @param defaultPythonVersion the one that an agent gets which chooses none
   * @param maxExecutors how many executors fit at the same time
   * @param profiles those of pods that agents can choose
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
   * @param landlockAbi the version of the kernel's interface, 0 when it has none; null where it
   *     wasn't asked for
   * @param privateIpc whether shared memory and message queues are an executor's own
   * @param message what isn't confined and why, for a person; or null
   */
  record Sandbox(String mechanism, Integer landlockAbi, boolean privateIpc, String message) {
    public boolean isNone() {
      return mechanism.equals("none");
    }
  }

  /**
   * @param mechanism "cgroup", "rlimit", "container" or "none"
   * @param maxProcesses of an executor or a build, threads included; null where Roost doesn't say
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
   * How far a look-up of a base image has come.
   *
   * @param reference that was looked up; null while it is going on and where there is nothing to
   *     look up
   * @param digest as in {@code sha256:0f3a…}; null: it was not found
   * @param message why not; or null
   */
  record BaseLookup(State state, String reference, String digest, String message) {
    /** Of a base that is no image, or an image by digest. */
    public static final BaseLookup NONE = new BaseLookup(State.NONE, null, null, null);

    public static final BaseLookup GOING = new BaseLookup(State.GOING, null, null, null);

    /** How far it is. */
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
   * @param base what {@link #baseIdentity} has answered, on this replica or another
   * @param requirements normalised, one a line
   * @param timeoutSeconds after which the build ends itself
   */
  record BuildSpec(
      String builderJobId,
      String agentId,
      String imageKey,
      String base,
      String pythonVersion,
      List<String> requirements,
      long timeoutSeconds) {}

  /**
   * @param next where to go on reading; what it counts is the runtime's own affair
   */
  record BuildOutput(List<String> lines, long next) {}

  /**
   * @param image what the build made, when that is an image; otherwise null
   * @param token the executor's bearer token; never in arguments, environment or logs
   * @param profile one of {@link Description#profiles}; null: the default
   * @param labels what tells a person whose it is: agent's id, name, revision, the ExecutorJob it
   *     was started for
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
        // Both, whatever becomes of the other.
      }
    }
  }

  /**
   * @param memoryMib null: as much as all
   * @param cpu null: as much as all
   */
  record AgentLimits(Integer memoryMib, Double cpu) {}

  /** The runtime can't be asked now; try again. */
  final class RuntimeUnavailable extends RuntimeException {
    public RuntimeUnavailable(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The runtime could start it if others had ended. */
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
