package dev.roost.agent;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.bundle.Bundles;
import dev.roost.config.RoostConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;

/**
 * The scripts of agents that have a bundle: the text is the content of a file of the bundle. Bytes
 * are read and stored before the transaction that changes the agent.
 */
@ApplicationScoped
class AgentBundles {
  private static final String EXTENSION = ".py";

  private final Bundles bundles;
  private final RoostConfig.Limits limits;

  AgentBundles(Bundles bundles, RoostConfig config) {
    this.bundles = bundles;
    this.limits = config.limits();
  }

  /**
   * Of which files an agent runs which one.
   *
   * @param bundleId null: the script is all there is, and has no path
   */
  record Source(String bundleId, String scriptPath) {
    static final Source NONE = new Source(null, null);

    static Source of(AgentRevision revision) {
      return new Source(revision.bundleId, revision.scriptPath);
    }
  }

  /**
   * A request whose script, bundle and path fit each other.
   *
   * @param from what the agent must still have for that; null: it doesn't matter
   */
  record Resolved(AgentRequest request, Source from) {
    /**
     * @throws Problem conflict
     */
    void requireSame(Source current) {
      if (from != null && !from.equals(current)) {
        throw Problem.of(
            ErrorCode.CONFLICT,
            "Another request has changed the agent's files at the same time. Retrieve the agent, and "
                + "repeat the change.");
      }
    }
  }

  /** Whether a request has to do with the agent's files. */
  static boolean concerns(AgentRequest request) {
    return request.script().isPresent()
        || request.bundleId().isPresent()
        || request.scriptPath().isPresent();
  }

  /**
   * Reads the script from the bundle, or stores it in another one.
   *
   * @param current what the agent has now
   * @throws Problem validation_failed, too_large, storage_full, unavailable; conflict: there is no
   *     storage of files
   */
  Resolved resolve(AgentRequest request, Source current) {
    Optional<String> given = request.bundleId().flatMap(id -> id);
    String bundle = request.bundleId().isPresent() ? given.orElse(null) : current.bundleId();
    Optional<String> givenPath = request.scriptPath().flatMap(path -> path);
    if (bundle == null) {
      givenPath.ifPresent(
          path -> {
            throw Problem.invalid(
                "/script_path", "contradiction", "script_path requires a bundle_id.");
          });
      boolean isOwn = request.bundleId().isPresent();
      return new Resolved(isOwn ? request.withoutBundle() : request, isOwn ? null : current);
    }
    String path = path(request, current);
    Source next = new Source(bundle, path);
    Source from = given.isPresent() && givenPath.isPresent() ? null : current;
    if (given.isPresent() || request.script().isEmpty()) {
      request
          .script()
          .ifPresent(
              script -> {
                throw Problem.invalid(
                    "/script",
                    "contradiction",
                    "With bundle_id, the script is the file at script_path. Leave script out.");
              });
      // Nothing to read, even if the storage of files can't be reached.
      return next.equals(current)
          ? new Resolved(request.withSource(null, next), current)
          : new Resolved(request.withSource(text(next, given.isPresent()), next), from);
    }
    byte[] bytes = request.script().orElseThrow().getBytes(StandardCharsets.UTF_8);
    Source changed = new Source(bundles.replace(bundle, path, bytes), path);
    return new Resolved(request.withSource(request.script().orElseThrow(), changed), current);
  }

  private static String path(AgentRequest request, Source current) {
    String path =
        request.scriptPath().orElse(Optional.ofNullable(current.scriptPath())).orElse(null);
    if (path == null) {
      throw Problem.invalid(
          "/script_path", "required", "An agent with a bundle requires script_path.");
    }
    if (!path.endsWith(EXTENSION) && !Objects.equals(path, current.scriptPath())) {
      throw Problem.invalid(
          "/script_path", "malformed", "script_path must end in " + EXTENSION + ".");
    }
    return path;
  }

  private String text(Source source, boolean isGiven) {
    Optional<byte[]> bytes =
        bundles.content(
            source.bundleId(),
            source.scriptPath(),
            limits.scriptBytes(),
            "roost.limits.script-bytes");
    if (bytes.isEmpty() && isGiven && !bundles.exists(source.bundleId())) {
      throw Bundles.unknown("/bundle_id", source.bundleId());
    }
    return bytes
        .map(AgentBundles::decoded)
        .orElseThrow(
            () ->
                Problem.invalid(
                    "/script_path",
                    "not_a_choice",
                    "The bundle has no file " + Text.quote(source.scriptPath()) + "."));
  }

  private static String decoded(byte[] bytes) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw Problem.invalid("/script_path", "invalid_text", "The script is not valid UTF-8.");
    }
    Text.unstorable(text)
        .ifPresent(
            mistake -> {
              throw Problem.invalid(
                  "/script_path", "invalid_text", "The script " + mistake.detail() + ".");
            });
    return text;
  }
}
