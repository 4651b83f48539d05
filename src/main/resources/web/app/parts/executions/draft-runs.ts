import { html, nothing, type TemplateResult } from "lit";
import { get, kept } from "../../core/api";
import type { AgentRevision, Execution, ExecutorJob } from "../../core/types";
import { text } from "../../text/parts/executions";

/** Runs of unsaved scripts. */

/** The mark of a draft. */
export const draftMark = ({ draft }: Pick<ExecutorJob, "draft">): unknown =>
  draft ? html`<span class="draft-mark" title=${text.drafts.markTitle}>${text.drafts.mark}</span>` : nothing;

/** What ran, in words. */
export const ranText = ({ draft, agent_revision }: Pick<ExecutorJob, "draft" | "agent_revision">): string =>
  draft ? text.drafts.draftBasedOn(agent_revision) : text.drafts.revision(agent_revision);

/** The same, for the line below a page's title. */
export const ranSummary = (run: Pick<ExecutorJob, "draft" | "agent_revision">): TemplateResult =>
  html`${draftMark(run)}
    <span class="faint"
      >${run.draft ? text.drafts.basedOn(run.agent_revision) : text.drafts.revision(run.agent_revision)}</span
    >`;

/** The revision of an execution, with the script that it ran; null: no longer stored. */
export async function ranRevision(
  { draft, agent_id, agent_revision, executor_job_id }: Execution,
  signal?: AbortSignal,
): Promise<AgentRevision | null> {
  const [revision, script] = await Promise.all([
    kept(get<AgentRevision>(`/agents/${agent_id}/revisions/${agent_revision}`, {}, signal)),
    draft ? draftScript(executor_job_id, signal) : null,
  ]);
  if (!revision || !draft) {
    return revision;
  }
  return script === null ? null : { ...revision, script };
}

/** The script of a draft; null: no longer stored. */
export const draftScript = async (jobId: string, signal?: AbortSignal): Promise<string | null> =>
  (await kept(get<{ script: string }>(`/executor-jobs/${jobId}/draft`, {}, signal)))?.script ?? null;

/** The address of the editor with the payload of a job and, for a draft, its script. */
export const tryAddress = (
  { id, agent_id }: Pick<ExecutorJob, "id" | "agent_id">,
  failed: string | null = null,
): string => `/agents/${agent_id}?try=${id}${failed === null ? "" : `&execution=${failed}`}`;

export const tryLink = (job: ExecutorJob, failed: string | null, style = "button"): TemplateResult =>
  html`<a class=${style} href=${tryAddress(job, failed)} title=${text.drafts.tryTitle}
    >${job.draft ? text.drafts.edit : text.drafts.tryEdited}</a
  >`;
