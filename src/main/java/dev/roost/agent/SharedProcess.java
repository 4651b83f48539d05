package dev.roost.agent;

import dev.roost.api.Problem;
import java.util.regex.Pattern;

/** The conditions for {@code requests_per_process}: several executions in one process. */
final class SharedProcess {
  /** The maximum of requests_per_process. Each takes connections of its own. */
  static final int MOST_REQUESTS = 100;

  private static final Pattern PLAIN = Pattern.compile("^def\\s+main\\b", Pattern.MULTILINE);
  private static final Pattern ASYNC =
      Pattern.compile("^async\\s+def\\s+main\\b", Pattern.MULTILINE);

  private SharedProcess() {}

  /**
   * Checks a changed agent. A main that isn't recognized here, for example an imported one, is
   * checked when it is executed.
   *
   * @param script that the agent has then
   * @throws Problem validation_failed
   */
  static void check(AgentRequest request, Agent agent, String script) {
    if (agent.requestsPerProcess == 1) {
      return;
    }
    boolean isAsked = request.requestsPerProcess().isPresent();
    if ((isAsked || request.isolation().isPresent()) && agent.isolation.equals("pod")) {
      throw Problem.invalid(
          isAsked ? "/requests_per_process" : "/isolation",
          "contradiction",
          "With isolation pod, an executor runs one execution. Set requests_per_process to 1, or "
              + "isolation to process.");
    }
    if ((isAsked || request.script().isPresent()) && isPlain(script)) {
      throw Problem.invalid(
          isAsked ? "/requests_per_process" : "/script",
          "main_not_async",
          "requests_per_process is %d, so main must be async: define `async def main`, or set "
                  .formatted(agent.requestsPerProcess)
              + "requests_per_process to 1.");
    }
  }

  /** Whether the script defines main at the start of a line, and never as async. Pure. */
  static boolean isPlain(String script) {
    return PLAIN.matcher(script).find() && !ASYNC.matcher(script).find();
  }
}
