import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { get, once, post } from "../../core/api";
import { count, plural } from "../../core/format";
import { asProblem, Load, typed } from "../../core/load";
import type { Issue, IssueCounts, Replay } from "../../core/types";
import { stateBadge } from "../page/basics";
import { confirmAction, toast } from "../page/dialogs";
import { Part } from "../page/part";

/** Milliseconds between polls of what is shown: failures are counted a moment after their event. */
export const LOOK = 5000;

export type Change = "resolve" | "mute" | "reopen";

/** What can be done with an issue in its state. */
export const CHANGES: Record<Issue["state"], Change[]> = {
  open: ["mute", "resolve"],
  resolved: ["reopen"],
  muted: ["reopen", "resolve"],
};

export const issueState = (issue: Issue): TemplateResult =>
  stateBadge(issue.state, issue.regressed ? "regressed" : issue.state);

/** "agent.py:7 in total"; nothing outside of the script. */
export const culpritText = ({ culprit }: Issue): string =>
  culprit ? `${culprit.file}:${culprit.line}${culprit.function ? ` in ${culprit.function}` : ""}` : "";

export async function changeIssue(issue: Issue, change: Change): Promise<void> {
  try {
    const { state } = await post<Issue>(`/issues/${issue.id}/${change}`);
    toast(state === "open" ? "Issue reopened." : `Issue ${state}.`);
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

/**
 * Runs affected jobs again, after a preview of how many.
 *
 * @param jobs only these; all of the issue by default
 */
export async function replayIssue(issue: Issue, jobs?: string[]): Promise<void> {
  const path = `/issues/${issue.id}/replay`;
  const body = jobs ? { executor_job_ids: jobs } : {};
  try {
    const preview = await post<Replay>(path, { ...body, preview: true });
    if (preview.count === 0) {
      toast(`No job to run again: ${leftOut(preview) || "the jobs are no longer stored"}.`);
      return;
    }
    const sure = await confirmAction({
      title: `Run ${plural(preview.count, "job")} again?`,
      body: previewText(preview),
      confirm: preview.count === 1 ? "Run job" : `Run ${count(preview.count)} jobs`,
    });
    if (sure) {
      const made = await post<Replay>(path, body, once());
      const link: [string, string] =
        made.count === 1
          ? ["View run", `/executor-jobs/${made.jobs[0]!.replayed_as}`]
          : ["View executions", `/executions?agent_id=${issue.agent_id}`];
      toast(`${plural(made.count, "job")} submitted.`, { link });
    }
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

function previewText(preview: Replay): TemplateResult {
  const without = leftOut(preview);
  return html`<p>With the agent's running revision and the stored payloads.</p>
    ${without ? html`<p>Left out: ${without}.</p>` : nothing}
    ${preview.more ? html`<p>These are the oldest. Run the others afterwards.</p>` : nothing}`;
}

const leftOut = ({ succeeded, pending, cancelled }: Replay): string =>
  [
    succeeded ? `${plural(succeeded, "job")} succeeded since` : "",
    pending ? `${plural(pending, "job")} queued or running` : "",
    cancelled ? `${plural(cancelled, "job")} cancelled` : "",
  ]
    .filter(Boolean)
    .join(", ");

/** The number of open issues, in the navigation. */
@customElement("issue-count")
export class IssueCount extends Part {
  private readonly counts = new Load<IssueCounts>(
    this,
    (signal) => get<IssueCounts>("/issues/counts", {}, signal),
    typed("issue"),
  );

  override render(): unknown {
    const open = this.counts.value?.open ?? 0;
    return open ? html`<span class="number">${count(open)}<span class="unseen"> open</span></span>` : nothing;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "issue-count": IssueCount;
  }
}
