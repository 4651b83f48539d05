package dev.roost.trace;

import dev.roost.api.Text;
import java.util.HexFormat;
import java.util.Optional;

/**
 * A position in a trace, in the format of the header {@code traceparent} of <a
 * href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>.
 *
 * @param traceId 32 lower-case hexadecimal digits, not all zero
 * @param spanId 16 lower-case hexadecimal digits, not all zero
 * @param flags 0 to 255; the lowest bit says that the trace is recorded
 */
public record TraceParent(String traceId, String spanId, int flags) {
  private static final int LENGTH = 55;
  private static final int SAMPLED = 1;
  private static final String NO_SPAN = "0".repeat(16);

  /** Empty for invalid text: the standard then requires a new trace. */
  public static Optional<TraceParent> parse(String text) {
    if (text == null
        || text.length() < LENGTH
        || (text.length() > LENGTH && (text.startsWith("00") || text.charAt(LENGTH) != '-'))) {
      return Optional.empty();
    }
    String trace = text.substring(3, 35);
    String span = text.substring(36, 52);
    String version = text.substring(0, 2);
    boolean valid =
        text.charAt(2) == '-'
            && text.charAt(35) == '-'
            && text.charAt(52) == '-'
            && isHex(version)
            && !version.equals("ff")
            && isHex(trace)
            && !trace.equals("0".repeat(32))
            && isHex(span)
            && !span.equals(NO_SPAN)
            && isHex(text.substring(53, 55));
    return valid
        ? Optional.of(new TraceParent(trace, span, HexFormat.fromHexDigits(text.substring(53, 55))))
        : Optional.empty();
  }

  /** The root of a job's trace when the caller has no trace: outside of any span. */
  static TraceParent begunBy(String jobId) {
    return new TraceParent(traceIdOf(jobId), NO_SPAN, SAMPLED);
  }

  boolean isInSpan() {
    return !spanId.equals(NO_SPAN);
  }

  /** A hash of the identifier, so that every replica computes the same one. */
  static String traceIdOf(String jobId) {
    return HexFormat.of().formatHex(Text.sha256(jobId)).substring(0, 32);
  }

  /** A hash of the identifier, so that every replica computes the same one. */
  static String spanIdOf(String executionId) {
    return HexFormat.of().formatHex(Text.sha256(executionId)).substring(0, 16);
  }

  boolean isSampled() {
    return (flags & SAMPLED) != 0;
  }

  /** The text that {@link #parse} reads. */
  public String text() {
    return "00-%s-%s-%02x".formatted(traceId, spanId, flags);
  }

  private static boolean isHex(String text) {
    return text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }
}
