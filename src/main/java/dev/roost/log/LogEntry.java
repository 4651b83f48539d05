package dev.roost.log;

import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * One line of a log.
 *
 * @param seq from 1, without gaps
 * @param stream "stdout", "stderr", "logging" or "system"
 * @param level level of a logging record, otherwise null
 * @param logger logger of a logging record, otherwise null
 * @param continued whether the line continues in the next entry
 */
public record LogEntry(
    @Schema(description = "Counts the log's entries from 1, without gaps") int seq,
    @Schema(description = "When the line was written; of a build, when Roost read it") Instant time,
    @Schema(
            enumeration = {"stdout", "stderr", "logging", "system"},
            description = "Where it was written; logging: Python's logging; system: by Roost")
        String stream,
    @Schema(
            nullable = true,
            description = "Of Python's logging, for example INFO; null: of another stream")
        String level,
    @Schema(nullable = true, description = "The logger's name; null: of another stream")
        String logger,
    @Schema(description = "The line, without its end") String message,
    @Schema(
            description =
                "Whether the line goes on in the next entry, since it is longer than one may be")
        boolean continued) {}
