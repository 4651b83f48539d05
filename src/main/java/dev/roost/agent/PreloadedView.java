package dev.roost.agent;

import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * What executors of an agent's revision import once, in a process from which executions are forked,
 * in API responses.
 *
 * @param modules their number
 * @param packages top-level names of those modules that belong to installed packages, sorted
 * @param importSeconds what an execution saves, in seconds
 * @param leftOut at most {@link Preloads#MOST_SHOWN}
 */
@Schema(name = "AgentPreloaded")
public record PreloadedView(
    @Schema(description = "The revision that an executor reported this for") int revision,
    @Schema(description = "The number of modules that are imported in advance") int modules,
    @Schema(
            examples = "[\"numpy\", \"pandas\"]",
            description =
                "The installed packages among these modules: their top-level names, sorted")
        List<String> packages,
    @Schema(description = "How many seconds their import took: about what each execution saves")
        double importSeconds,
    @Schema(
            description =
                "The memory that the process with these modules takes by itself, once per executor")
        long memoryBytes,
    @Schema(
            description =
                "Modules that each execution still imports itself, and why; at most 200 of them")
        List<LeftOut> leftOut,
    @Schema(description = "When an executor reported a change last") Instant updatedAt) {

  /**
   * A module that can't be imported in advance.
   *
   * @param reason for a person
   */
  @Schema(name = "AgentPreloadedLeftOut")
  public record LeftOut(
      @Schema(examples = "grpc", description = "Its full name") String module,
      @Schema(examples = "starts a thread", description = "Why each execution imports it itself")
          String reason) {}
}
