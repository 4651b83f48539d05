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
    @Schema(description = "The number of the entry, from 1, without gaps") int seq,
    @Schema(description = "When the line was written; for a build, when Roost read it")
        Instant time,
    @Schema(
            enumeration = {"stdout", "stderr", "logging", "system"},
            description = "The source. logging: Python's logging; system: Roost itself")
        String stream,
    @Schema(
            nullable = true,
            description = "The level of Python's logging, for example INFO; null for other streams")
        String level,
    @Schema(nullable = true, description = "The logger's name; null for other streams")
        String logger,
    @Schema(description = "The line, without its line end") String message,
    @Schema(
            description =
                "Whether the line continues in the next entry, because it exceeds the limit of an entry")
        boolean continued) {}
