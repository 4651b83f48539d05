package dev.roost.execution;

import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.log.LogEntry;
import dev.roost.state.ExecutionState;
import java.util.ArrayList;
import java.util.List;

/**
 * Limits for the stored data of an executor's frames. Executors apply these limits themselves, but
 * a script may forge frames. No limit here is tighter than the executor's own.
 *
 * @param lineBytes of one message
 * @param logBytes of all messages, as {@link #size} counts them
 * @param logEntries the number of entries
 */
public record FrameLimits(int returnValueBytes, int lineBytes, long logBytes, int logEntries) {
  public static final String CUT =
      "The rest of the output was left out here: the log had reached its limit.";

  public static final String FULL =
      "The rest of the output was left out here: the storage for logs is full.";

  /**
   * For entries that report omitted output, and for newlines that are counted but were not written.
   */
  private static final int SLACK_BYTES = 65_536;

  /** Short entries cost the database more than {@link #size} counts, so their number is limited. */
  private static final int LEAST_BYTES_OF_ENTRY = 16;

  private static final int ORIGIN_CHARACTERS = 1_000;

  static FrameLimits of(RoostConfig.Limits limits) {
    long logBytes = (long) limits.logBytes() + limits.logTailBytes() + SLACK_BYTES;
    return new FrameLimits(
        limits.returnValueBytes(),
        limits.logLineBytes(),
        logBytes,
        (int) Math.min(Integer.MAX_VALUE, logBytes / LEAST_BYTES_OF_ENTRY));
  }

  /**
   * The entries to store, of those that arrived.
   *
   * @param bytes of all entries that the executor has ever sent, including these
   * @param cut whether something was left out, now or before
   */
  record Admitted(List<LogEntry> entries, long bytes, boolean cut) {}

  /**
   * @param bytesBefore of all earlier entries
   * @param entriesBefore the number of earlier entries
   */
  Admitted admit(long bytesBefore, int entriesBefore, List<LogEntry> arrived) {
    return admit(bytesBefore, entriesBefore, arrived, false);
  }

  /**
   * @param full whether the storage is full: then this log has reached its limit, too
   */
  Admitted admit(long bytesBefore, int entriesBefore, List<LogEntry> arrived, boolean full) {
    List<LogEntry> admitted = new ArrayList<>(arrived.size());
    long bytes = bytesBefore;
    int count = entriesBefore;
    boolean cut = bytes > logBytes || count > logEntries;
    for (LogEntry entry : arrived) {
      bytes += size(entry);
      count++;
      if (!cut) {
        cut = full || bytes > logBytes || count > logEntries;
        admitted.add(cut ? marker(entry, full ? FULL : CUT) : bounded(entry));
      }
    }
    if (cut) {
      bytes = Math.max(bytes, logBytes + 1);
    }
    return new Admitted(admitted, bytes, cut);
  }

  /**
   * Never more than the bytes that the script wrote: each byte of invalid UTF-8 becomes one
   * character, which takes three bytes when stored.
   */
  private static long size(LogEntry entry) {
    return entry.message().length() + (entry.continued() ? 0 : 1);
  }

  private static LogEntry marker(LogEntry first, String text) {
    return new LogEntry(first.seq(), first.time(), "system", null, null, text, false);
  }

  private LogEntry bounded(LogEntry entry) {
    String level = bounded(entry.level(), ORIGIN_CHARACTERS);
    String logger = bounded(entry.logger(), ORIGIN_CHARACTERS);
    String message = bounded(entry.message(), lineBytes);
    boolean same = level == entry.level() && logger == entry.logger() && message == entry.message();
    return same
        ? entry
        : new LogEntry(
            entry.seq(), entry.time(), entry.stream(), level, logger, message, entry.continued());
  }

  /** The text, cut to this length. */
  static String bounded(String text, int characters) {
    if (text == null || text.length() <= characters) {
      return text;
    }
    boolean inPair = Character.isHighSurrogate(text.charAt(characters - 1));
    return text.substring(0, inPair ? characters - 1 : characters);
  }

  /** The outcome itself, or a failure when its return value is too large. */
  Outcome bounded(Outcome outcome) {
    String value = outcome.returnValue();
    if (value == null || value.length() <= returnValueBytes / 4) {
      return outcome;
    }
    int size = Text.sizeBytes(value);
    return size <= returnValueBytes
        ? outcome
        : new Outcome(
            ExecutionState.FAILED,
            ExecutionReason.RETURN_VALUE_TOO_LARGE,
            ("the return value is %,d bytes of JSON; the limit is %,d. Store large results elsewhere "
                    + "and return a reference")
                .formatted(size, returnValueBytes),
            null,
            null,
            outcome.logsTruncated(),
            outcome.cpuSeconds(),
            outcome.maxMemoryBytes(),
            outcome.time());
  }
}
