import { html, nothing, type TemplateResult } from "lit";
import { plural } from "../../core/format";
import { signedIn } from "../../core/session";
import type { AgentRevision, Execution, ExecutorJob, Issue, LogEntry } from "../../core/types";
import { revisionChanges } from "../agents/revision-changes";
import "../code/json-tree";
import { comparisonOf } from "../executions/comparison-address";
import { tryLink } from "../executions/draft-runs";
import { runEdited } from "../executions/runs";
import { idLink, timeAgo } from "../page/basics";
import { culpritText } from "./issues";

/** Panels of an issue's page. */

/** Lines of the script shown before and after the failing one. */
const AROUND = 6;

/** The failing line with its neighbours, and the frames. */
export function failingLine(execution: Execution, revision: AgentRevision | null): unknown {
  const { error } = execution;
  const line = error?.line ?? 0;
  const lines = revision && line ? revision.script.split("\n") : [];
  const from = Math.max(0, line - 1 - AROUND);
  return html`<section class="panel" aria-labelledby="line-title">
    <header>
      <h2 id="line-title">
        ${line ? `Line ${line}` : "Error"}
        <span class="faint">of the latest failure, revision ${execution.agent_revision}</span>
      </h2>
      <a href="/agents/${execution.agent_id}${line ? `?execution=${execution.id}` : ""}">Edit</a>
    </header>
    ${lines.length
      ? html`<div class="excerpt" tabindex="0" role="region" aria-label="Script around line ${line}">
          <ol>
            ${lines
              .slice(from, line + AROUND)
              .map((text, i) => excerptLine(from + i + 1, text, line, `${error!.type}: ${error!.message}`))}
          </ol>
        </div>`
      : nothing}
    <div class="content">
      <pre class="traceback" tabindex="0" role="region" aria-label="Traceback">
${error?.traceback ?? execution.message}</pre
      >
    </div>
  </section>`;
}

const excerptLine = (number: number, text: string, failing: number, message: string): TemplateResult =>
  html`<li class=${number === failing ? "failing" : ""} aria-current=${number === failing ? "true" : nothing}>
    <span class="at">${number}</span><code .textContent=${text || " "}></code>
    ${number === failing ? html`<strong class="cut" title=${message}>${message}</strong>` : nothing}
  </li>`;

/** The revision that introduced the issue, and what it changed. */
export const introduced = (
  issue: Issue,
  before: AgentRevision | null,
  first: AgentRevision | null,
): TemplateResult =>
  html`<section class="panel" aria-labelledby="introduced-title">
    <header>
      <h2 id="introduced-title">Introduced in revision ${issue.first_revision}</h2>
      <a href="/agents/${issue.agent_id}/revisions?revision=${issue.first_revision}">View revision</a>
    </header>
    <div class="content column">
      ${first === null
        ? html`<p class="faint">The revision is no longer stored.</p>`
        : before === null
          ? html`<p class="faint">The agent's first revision. It has failed like this from the beginning.</p>`
          : revisionChanges(before, first)}
    </div>
  </section>`;

/**
 * The end of the latest failure's log.
 *
 * @param success the latest execution of the agent that succeeded
 */
export const logTail = (
  execution: Execution,
  entries: LogEntry[],
  success: Execution | null,
): TemplateResult =>
  html`<section class="panel" aria-labelledby="tail-title">
    <header>
      <h2 id="tail-title">
        Log
        <span class="faint">last ${plural(entries.length, "entry", "entries")} of the latest failure</span>
      </h2>
      ${success
        ? html`<a
            href=${comparisonOf(success.id, execution.id)}
            title="Script, packages, payload and figures beside those of the latest success"
            >Compare with last success</a
          >`
        : nothing}
      <a href="/executions/${execution.id}">View execution</a>
    </header>
    ${entries.length
      ? html`<pre class="log-tail" tabindex="0" role="region" aria-label="End of the log">
${entries.map(
            ({ message, stream }) => html`<span class=${stream} .textContent=${message + "\n"}></span>`,
          )}</pre
        >`
      : html`<p class="content faint">The log is empty.</p>`}
  </section>`;

/**
 * Payloads of the newest failures.
 *
 * @param failed the latest failure, whose line the editor shows
 */
export const payloads = (jobs: ExecutorJob[], failed: string): TemplateResult =>
  html`<section class="panel" aria-labelledby="payloads-title">
    <header>
      <h2 id="payloads-title">Payloads <span class="faint">of the latest failures</span></h2>
    </header>
    ${jobs.length
      ? html`<ul class="issue-payloads">
          ${jobs.map(
            (job) =>
              html`<li>
                <span class="row small"
                  >${idLink(job.id, `/executor-jobs/${job.id}`)}<span class="grow"></span>${timeAgo(
                    job.finished_at ?? job.created_at,
                  )}${signedIn.may("execute")
                    ? html`<button class="quiet" @click=${() => void runEdited(job)}>
                        Run with edited payload
                      </button>`
                    : nothing}${signedIn.may("write") ? tryLink(job, failed, "button quiet") : nothing}</span
                >
                <json-tree name="Payload" .value=${job.payload}></json-tree>
              </li>`,
          )}
        </ul>`
      : html`<p class="content faint">No job is stored.</p>`}
  </section>`;

export const issueFacts = (issue: Issue): TemplateResult =>
  html`<section class="panel" aria-labelledby="facts-title">
    <header><h2 id="facts-title">Details</h2></header>
    <dl class="facts content">
      <dt>First seen</dt>
      <dd>${timeAgo(issue.first_seen_at)}</dd>
      <dt>Last seen</dt>
      <dd>${timeAgo(issue.last_seen_at)}</dd>
      ${issue.culprit
        ? html`<dt>Place</dt>
            <dd><code>${culpritText(issue)}</code></dd>`
        : nothing}
      <dt>Reason</dt>
      <dd>
        <a href="/executions?agent_id=${issue.agent_id}&reason=${issue.reason}">${issue.reason}</a>
      </dd>
      <dt>Revisions</dt>
      <dd>
        <ul>
          ${(issue.revisions ?? []).map(
            ({ revision, count }) =>
              html`<li class="row">
                <a href="/agents/${issue.agent_id}/revisions?revision=${revision}">${revision}</a>
                <span class="faint">${plural(count, "failure")}</span>
              </li>`,
          )}
        </ul>
      </dd>
      <dt>Issue</dt>
      <dd>${idLink(issue.id)}</dd>
    </dl>
  </section>`;
