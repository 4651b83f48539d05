package dev.roost.execution;

/** Conditions for a claim, as SQL about an executor {@code x}. */
public final class Claimable {
  private Claimable() {}

  /**
   * Whether an executor {@code x} still fits its agent {@code a}, its revision {@code r} and that
   * revision's BuilderJob {@code b}, so that an executor started now would be the same. An executor
   * keeps the settings that it was started with. Settings that apply to each execution, such as the
   * timeout, are not compared. Variables, Python version, profile, egress and preload belong to the
   * revision.
   */
  public static final String FITS =
      """
      (coalesce(x.memory_mib, a.memory_mib) = a.memory_mib and coalesce(x.cpu, a.cpu) = a.cpu
        and x.requests_per_process = a.requests_per_process
        and coalesce(b.build_id, x.build_id) = x.build_id
        and (a.isolation <> 'pod' or not exists (select 1 from execution e where e.executor_id = x.id)))""";

  /** The joins that {@link #FITS} needs besides {@code executor x}. */
  public static final String SETTINGS_OF =
      """

      join agent a on a.id = x.agent_id
      join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
      join builder_job b on b.id = r.builder_job_id""";
}
