package dev.roost.agent;

/** What a new agent has where the request says nothing. */
final class AgentDefaults {
  static final int TIMEOUT_SECONDS = 900;
  static final int MEMORY_MIB = 256;
  static final double CPU = 0.5;
  static final int MAX_CONCURRENCY = 10;
  static final KeyScope CONCURRENCY_KEY_SCOPE = KeyScope.EXECUTION;

  /** {@link #CONCURRENCY_KEY_SCOPE} in the OpenAPI document, where only a constant can stand. */
  static final String CONCURRENCY_KEY_SCOPE_CODE = "execution";

  static final int MAX_ATTEMPTS = 1;
  static final int RETRY_DELAY_SECONDS = 1;
  static final int KEEP_WARM_SECONDS = 60;
  static final String ISOLATION = "process";
  static final int REQUESTS_PER_PROCESS = 1;
  static final String EGRESS = "all";
  static final Preload PRELOAD = Preload.AUTO;

  /** {@link #PRELOAD} in the OpenAPI document, where only a constant can stand. */
  static final String PRELOAD_CODE = "auto";

  private AgentDefaults() {}
}
