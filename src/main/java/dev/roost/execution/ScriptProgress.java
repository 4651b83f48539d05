package dev.roost.execution;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How far a script is, as it has said itself. */
@Schema(name = "Progress")
public record ScriptProgress(
    @Schema(nullable = true, description = "From 0 to 1; null if the script has not said it")
        Double fraction,
    @Schema(nullable = true, description = "What the script does; null if it has not said it")
        String message) {
  /** Null if the script has said nothing. */
  static ScriptProgress of(Double fraction, String message) {
    return fraction == null && message == null ? null : new ScriptProgress(fraction, message);
  }
}
