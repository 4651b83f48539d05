package dev.roost.log;

import java.time.Instant;

/**
 * One line of a log.
 *
 * @param seq from 1, without gaps
 * @param stream "stdout", "stderr", "logging" or "system"
 * @param level of a logging record, otherwise null
 * @param logger of a logging record, otherwise null
 * @param continued whether the line goes on in the next entry
 */
public record LogEntry(
    int seq,
    Instant time,
    String stream,
    String level,
    String logger,
    String message,
    boolean continued) {}
