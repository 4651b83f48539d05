package dev.roost.cluster;

import java.io.PrintStream;

/**
 * Fired once when everything is up, before Roost reports its start to the user.
 *
 * @param out the output that the user reads
 */
public record Ready(PrintStream out) {}
