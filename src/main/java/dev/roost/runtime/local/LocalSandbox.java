package dev.roost.runtime.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress;
import dev.roost.runtime.EgressScope;
import dev.roost.runtime.Runtime.Sandbox;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The confinement of scripts and builds on this machine, detected once at the start by a probe (see
 * {@code roost_executor/sandbox.py}).
 *
 * @param view for the API
 * @param paths part of the value of {@code --sandbox}; empty: nothing is confined
 */
record LocalSandbox(Sandbox view, Optional<ObjectNode> paths) {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String NONE = "none";

  /** The filter of system calls can block the network completely, or everything except TCP. */
  private static final String WITH_FILTER = "landlock+seccomp";

  /** The first version of Landlock with TCP ports: Linux 6.7. */
  private static final int ABI_WITH_PORTS = 4;

  /** Scripts with limited ports resolve names over TCP. */
  private static final int DNS = 53;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Files with settings in the server's working directory. */
  private static final List<String> CONFIGURATION = List.of("config", ".env");

  /**
   * @param sources the directory that contains the package {@code roost_executor}
   * @throws StartFailed when the sandbox that the settings require doesn't work here
   */
  static LocalSandbox find(RoostConfig config, DataDirectory data, Path sources, Path python)
      throws StartFailed {
    String setting = config.local().sandbox();
    return switch (setting) {
      case "off" -> none("roost.local.sandbox is off");
      case "bubblewrap" -> inBubblewrap(config, data, sources, python);
      case "auto", "landlock" -> {
        Sandbox found = probe(sources, python, List.of());
        if (!found.mechanism().equals(NONE)) {
          yield new LocalSandbox(found, Optional.of(paths(config, data)));
        }
        if (setting.equals("landlock")) {
          throw new StartFailed(
              ("roost.local.sandbox is \"landlock\", but scripts cannot be confined: %s. Set "
                      + "ROOST_LOCAL_SANDBOX=auto to start without a sandbox.")
                  .formatted(found.message()));
        }
        yield new LocalSandbox(found, Optional.empty());
      }
      default ->
          throw new StartFailed(
              "roost.local.sandbox is \"%s\"; it must be one of [auto, landlock, bubblewrap, off]"
                  .formatted(setting));
    };
  }

  private static LocalSandbox inBubblewrap(
      RoostConfig config, DataDirectory data, Path sources, Path python) throws StartFailed {
    String program =
        Programs.find("bwrap")
            .orElseThrow(
                () ->
                    new StartFailed(
                        "roost.local.sandbox is \"bubblewrap\", but bwrap is not on the PATH. Install bubblewrap, "
                            + "or set ROOST_LOCAL_SANDBOX=auto."))
            .toString();
    Sandbox found = probe(sources, python, List.of("--bubblewrap", program));
    if (found.isNone()) {
      throw new StartFailed(
          ("roost.local.sandbox is \"bubblewrap\", but scripts cannot be confined: %s. It requires "
                  + "user namespaces, or root, and Landlock. Set ROOST_LOCAL_SANDBOX=auto to start without a "
                  + "sandbox.")
              .formatted(found.message()));
    }
    return new LocalSandbox(found, Optional.of(paths(config, data).put("bubblewrap", program)));
  }

  /** Which egress rules this sandbox can enforce. */
  EgressScope egress() {
    if (paths.isEmpty() || !view.mechanism().endsWith(WITH_FILTER)) {
      return EgressScope.ALL;
    }
    return view.landlockAbi() < ABI_WITH_PORTS ? EgressScope.NONE : EgressScope.PORTS;
  }

  /**
   * Why this sandbox can't enforce an egress, for a person; empty: it can, for a list the ports
   * only.
   */
  Optional<String> refusal(Egress egress) {
    return switch (egress()) {
      case PORTS, ADDRESSES -> Optional.empty();
      case NONE ->
          egress.everything() || egress.equals(Egress.NONE)
              ? Optional.empty()
              : Optional.of(
                  "On this machine egress must be \"all\" or \"none\": lists of ports require Linux 6.7 or "
                      + "later, and lists of addresses require Kubernetes.");
      case ALL ->
          egress.everything()
              ? Optional.empty()
              : Optional.of(
                  "Without a filter of system calls (sandbox \"landlock+seccomp\") egress must be \"all\".");
    };
  }

  /**
   * The value of {@code --sandbox} for scripts with an enforceable egress, or for builds; empty:
   * nothing is confined.
   *
   * @param memoryMib of shared memory
   */
  Optional<String> option(Egress egress, int memoryMib) {
    return paths.map(
        given -> {
          ObjectNode option = given.deepCopy().put("network", !egress.equals(Egress.NONE));
          if (view.privateIpc() && !option.has("bubblewrap")) {
            option.put("shared_memory_mib", memoryMib);
          }
          if (!egress.destinations().isEmpty()) {
            ArrayNode ports = option.putArray("ports").add(DNS);
            egress.destinations().stream()
                .map(Egress.Destination::port)
                .distinct()
                .filter(port -> port != DNS)
                .forEach(ports::add);
          }
          return option.toString();
        });
  }

  /** Adds a limit of processes for scripts and builds; no effect when nothing is confined. */
  LocalSandbox bounding(int processes) {
    return new LocalSandbox(view, paths.map(given -> given.deepCopy().put("processes", processes)));
  }

  private static LocalSandbox none(String message) {
    return new LocalSandbox(new Sandbox(NONE, null, false, message), Optional.empty());
  }

  private static Sandbox probe(Path sources, Path python, List<String> options) throws StartFailed {
    Path program = sources.resolve("roost_executor");
    List<String> command = new ArrayList<>();
    command.addAll(List.of(python.toString(), "-I", "-B", program.toString(), "probe"));
    command.addAll(options);
    try {
      Programs.Result result = Programs.run(command, Map.of(), LIMIT);
      if (!result.succeeded()) {
        return new Sandbox(NONE, null, false, "the probe failed: " + result.errors().strip());
      }
      return of(result.output());
    } catch (IOException e) {
      return new Sandbox(NONE, null, false, "the probe failed: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartFailed("the start was interrupted", e);
    }
  }

  /**
   * @param json the probe's output
   */
  static Sandbox of(String json) throws IOException {
    JsonNode found = JSON.readTree(json);
    return new Sandbox(
        found.path("mechanism").asText(NONE),
        found.path("landlock_abi").asInt(),
        found.path("private_ipc").asBoolean(),
        found.path("message").textValue());
  }

  /** Private paths stay inaccessible regardless of the settings. */
  private static ObjectNode paths(RoostConfig config, DataDirectory data) {
    ObjectNode option = JSON.createObjectNode();
    add(option.putArray("readable"), config.local().sandboxReadable().orElse(List.of()));
    add(option.putArray("writable"), config.local().sandboxWritable().orElse(List.of()));
    ArrayNode secrets = option.putArray("private");
    add(secrets, List.of(data.root()));
    add(secrets, config.apiKeyFile().stream().toList());
    add(secrets, CONFIGURATION.stream().map(Path::of).toList());
    return option;
  }

  private static void add(ArrayNode array, List<Path> paths) {
    paths.forEach(path -> array.add(path.toAbsolutePath().normalize().toString()));
  }
}
