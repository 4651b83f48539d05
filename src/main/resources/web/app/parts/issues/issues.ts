import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { get, once, post } from "../../core/api";
import { asProblem, Load, typed } from "../../core/load";
import type { Issue, IssueCounts, Replay } from "../../core/types";
import { text } from "../../text/parts/issues";
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
  stateBadge(issue.state, issue.regressed ? text.regressed : undefined);

/** "agent.py:7 in total"; nothing outside of the script. */
export function culpritText({ culprit }: Issue): string {
  if (!culprit) {
    return "";
  }
  const place = `${culprit.file}:${culprit.line}`;
  return culprit.function ? text.inFunction(place, culprit.function) : place;
}

export async function changeIssue(issue: Issue, change: Change): Promise<void> {
  try {
    const { state } = await post<Issue>(`/issues/${issue.id}/${change}`);
    toast(text.changed[state]);
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
      const without = leftOut(preview);
      toast(without ? text.replay.none(without) : text.replay.noneStored);
      return;
    }
    const sure = await confirmAction({
      title: text.replay.title(preview.count),
      body: previewText(preview),
      confirm: text.replay.confirm(preview.count),
    });
    if (sure) {
      const made = await post<Replay>(path, body, once());
      const link: [string, string] =
        made.count === 1
          ? [text.replay.viewRun, `/executor-jobs/${made.jobs[0]!.replayed_as}`]
          : [text.replay.viewExecutions, `/executions?agent_id=${issue.agent_id}`];
      toast(text.replay.submitted(made.count), { link });
    }
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

function previewText(preview: Replay): TemplateResult {
  const without = leftOut(preview);
  return html`<p>${text.replay.body}</p>
    ${without ? html`<p>${text.replay.leftOut(without)}</p>` : nothing}
    ${preview.more ? html`<p>${text.replay.oldest}</p>` : nothing}`;
}

const leftOut = ({ succeeded, pending, cancelled }: Replay): string =>
  [
    succeeded ? text.replay.succeeded(succeeded) : "",
    pending ? text.replay.pending(pending) : "",
    cancelled ? text.replay.cancelled(cancelled) : "",
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
    return open ? html`<span class="number">${text.open(open)}</span>` : nothing;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "issue-count": IssueCount;
  }
}
