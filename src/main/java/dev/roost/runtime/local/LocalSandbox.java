package dev.roost.runtime.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Runtime.Sandbox;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What scripts and builds are confined to on this machine: found out once, at the start, by trying
 * it (see {@code roost_executor/sandbox.py}).
 *
 * @param view as the API shows it
 * @param option the value of {@code --sandbox} for executors and builders; empty: none
 * @param withoutNetwork the same for executors whose scripts may connect to nothing; empty: that
 *     can't be enforced here
 */
record LocalSandbox(Sandbox view, Optional<String> option, Optional<String> withoutNetwork) {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String NONE = "none";

  /** The filter of system calls is what takes the network away. */
  private static final String WITH_FILTER = "landlock+seccomp";

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Files in the directory that Roost is started in, which hold its settings. */
  private static final List<String> CONFIGURATION = List.of("config", ".env");

  /**
   * @param sources the directory that holds the package {@code roost_executor}
   * @throws StartFailed when the sandbox that the settings require doesn't work here
   */
  static LocalSandbox find(RoostConfig config, DataDirectory data, Path sources, Path python)
      throws StartFailed {
    String wanted = config.local().sandbox();
    return switch (wanted) {
      case "off" -> none("roost.local.sandbox is off");
      case "auto", "landlock" -> {
        Sandbox found = probe(sources, python);
        if (!found.mechanism().equals(NONE)) {
          Optional<String> withoutNetwork =
              found.mechanism().equals(WITH_FILTER)
                  ? Optional.of(option(config, data, false))
                  : Optional.empty();
          yield new LocalSandbox(found, Optional.of(option(config, data, true)), withoutNetwork);
        }
        if (wanted.equals("landlock")) {
          throw new StartFailed(
              "roost.local.sandbox is \"landlock\", but scripts can't be confined: %s. Set ROOST_LOCAL_SANDBOX=auto to start without."
                  .formatted(found.message()));
        }
        yield new LocalSandbox(found, Optional.empty(), Optional.empty());
      }
      default ->
          throw new StartFailed(
              "roost.local.sandbox is \"%s\"; there are [auto, landlock, off]".formatted(wanted));
    };
  }

  /** Why this can't be enforced, for a person; empty: it can. */
  Optional<String> refusal(Egress egress) {
    if (egress.everything() || egress.equals(Egress.NONE) && withoutNetwork.isPresent()) {
      return Optional.empty();
    }
    return Optional.of(
        withoutNetwork.isPresent()
            ? "On one machine egress can only be \"all\" or \"none\"; addresses can't be enforced."
            : "Without a filter of system calls (sandbox \"landlock+seccomp\") egress can only be \"all\".");
  }

  private static LocalSandbox none(String message) {
    return new LocalSandbox(new Sandbox(NONE, null, message), Optional.empty(), Optional.empty());
  }

  private static Sandbox probe(Path sources, Path python) throws StartFailed {
    Path program = sources.resolve("roost_executor").resolve("sandbox.py");
    List<String> command = List.of(python.toString(), "-I", "-B", program.toString(), "--probe");
    try {
      Programs.Result result = Programs.run(command, Map.of(), LIMIT);
      if (!result.succeeded()) {
        return new Sandbox(NONE, null, "the probe failed: " + result.errors().strip());
      }
      return of(result.output());
    } catch (IOException e) {
      return new Sandbox(NONE, null, "the probe failed: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartFailed("the start was interrupted", e);
    }
  }

  /**
   * @param json what the probe prints
   */
  static Sandbox of(String json) throws IOException {
    JsonNode found = JSON.readTree(json);
    return new Sandbox(
        found.path("mechanism").asText(NONE),
        found.path("landlock_abi").asInt(),
        found.path("message").textValue());
  }

  /** What is private stays out of reach whatever the settings allow. */
  static String option(RoostConfig config, DataDirectory data, boolean network) {
    ObjectNode option = JSON.createObjectNode().put("network", network);
    add(option.putArray("readable"), config.local().sandboxReadable().orElse(List.of()));
    add(option.putArray("writable"), config.local().sandboxWritable().orElse(List.of()));
    ArrayNode secrets = option.putArray("private");
    add(secrets, List.of(data.root()));
    add(secrets, config.apiKeyFile().stream().toList());
    add(secrets, CONFIGURATION.stream().map(Path::of).toList());
    return option.toString();
  }

  private static void add(ArrayNode array, List<Path> paths) {
    paths.forEach(path -> array.add(path.toAbsolutePath().normalize().toString()));
  }
}
