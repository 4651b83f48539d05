package dev.roost.execution;

/** Concurrency keys that jobs hold from their first execution until they end. */
public final class HeldKeys {
  /**
   * SQL: whether a job {@code h} holds its key. The unique index of held keys has the same
   * condition; the agent's setting releases all of its keys at once.
   */
  static final String HOLDS =
      " "
          + """
          h.holds_key and h.finished_at is null
          and exists (select 1 from agent s where s.id = h.agent_id and s.concurrency_key_scope = 'job')""";

  /** SQL: whether another job of its agent holds the key of the job {@code j}. */
  public static final String BY_ANOTHER =
      " "
          + """
          exists (
            select 1 from executor_job h
            where h.agent_id = j.agent_id and h.concurrency_key = j.concurrency_key and h.id <> j.id and """
          + HOLDS
          + ")";

  /** SQL: whether the job {@code j} may begin as far as its concurrency key is concerned. */
  public static final String FREE =
      " "
          + """
          (j.concurrency_key is null or not exists (
            select 1 from execution e
            where e.agent_id = j.agent_id and e.concurrency_key = j.concurrency_key and e.state = 'running')
            and not """
          + BY_ANOTHER
          + ")";

  private HeldKeys() {}
}
