package dev.roost.cluster;

import java.io.PrintStream;

/**
 * Told once when everything is up, before the person who started Roost is told so.
 *
 * @param out where that person reads
 */
public record Ready(PrintStream out) {}
