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

/** Tells what this Roost offers and what its limits are. */
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
   * @param defaultVersion the Python version of an agent that chooses none
   */
  @Schema(name = "Runtime")
  record View(
      @Schema(description = "local or kubernetes", examples = "local") String kind,
      @Schema(
              description = "Those that agents can choose, oldest first",
              examples = "[\"3.11\", \"3.13\"]")
          List<String> pythonVersions,
      @JsonProperty("default")
          @Schema(
              name = "default",
              description = "The Python version of an agent that chooses none",
              examples = "3.13")
          String defaultVersion,
      @Schema(examples = "linux/amd64") String platform,
      @Schema(description = "How many executors fit at the same time", examples = "32")
          int maxExecutors,
      @Schema(description = "Roost's own version") String version,
      Limits limits) {}

  /** The limits as they are set here. */
  record Limits(
      int scriptBytes,
      int requirementsBytes,
      int requirementsLines,
      int envVarsBytes,
      int payloadBytes,
      int returnValueBytes,
      int logLineBytes,
      int logBytes,
      int storeKeyBytes,
      int storeValueBytes,
      long storeBytes,
      int queuedExecutorJobs,
      @Schema(description = "Of one API key; 0: unlimited") int requestsPerMinute) {
    static Limits of(RoostConfig.Limits limits) {
      return new Limits(
          limits.scriptBytes(),
          limits.requirementsBytes(),
          limits.requirementsLines(),
          limits.envVarsBytes(),
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
  @Operation(operationId = "getRuntime", summary = "What this Roost offers, and its limits")
  public View get() {
    Runtime.Description description = runtime.describe();
    return new View(
        description.kind(),
        description.pythonVersions(),
        description.defaultPythonVersion(),
        description.platform(),
        description.maxExecutors(),
        version,
        Limits.of(config.limits()));
  }
}
