import { html, nothing, type TemplateResult } from "lit";
import { signedIn } from "../../core/session";
import type { AgentRevision, Execution, ExecutorJob, Issue, LogEntry } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/issues";
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
        ${line ? text.line.title(line) : text.line.error}
        <span class="faint">${text.line.ofLatest(execution.agent_revision)}</span>
      </h2>
      <a href="/agents/${execution.agent_id}${line ? `?execution=${execution.id}` : ""}">${common.edit}</a>
    </header>
    ${lines.length
      ? html`<div class="excerpt" tabindex="0" role="region" aria-label=${text.line.script(line)}>
          <ol>
            ${lines
              .slice(from, line + AROUND)
              .map((code, i) => excerptLine(from + i + 1, code, line, `${error!.type}: ${error!.message}`))}
          </ol>
        </div>`
      : nothing}
    <div class="content">
      <pre class="traceback" tabindex="0" role="region" aria-label=${text.line.traceback}>
${error?.traceback ?? execution.message}</pre
      >
    </div>
  </section>`;
}

const excerptLine = (number: number, code: string, failing: number, message: string): TemplateResult =>
  html`<li class=${number === failing ? "failing" : ""} aria-current=${number === failing ? "true" : nothing}>
    <span class="at">${number}</span><code .textContent=${code || " "}></code>
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
      <h2 id="introduced-title">${text.introduced.title(issue.first_revision)}</h2>
      <a href="/agents/${issue.agent_id}/revisions?revision=${issue.first_revision}"
        >${text.introduced.viewRevision}</a
      >
    </header>
    <div class="content column">
      ${first === null
        ? html`<p class="faint">${text.introduced.notStored}</p>`
        : before === null
          ? html`<p class="faint">${text.introduced.first}</p>`
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
        ${text.log.title}
        ${entries.length ? html`<span class="faint">${text.log.last(entries.length)}</span>` : nothing}
      </h2>
      ${success
        ? html`<a href=${comparisonOf(success.id, execution.id)} title=${text.log.compareTitle}
            >${text.log.compare}</a
          >`
        : nothing}
      <a href="/executions/${execution.id}">${text.log.viewExecution}</a>
    </header>
    ${entries.length
      ? html`<pre class="log-tail" tabindex="0" role="region" aria-label=${text.log.end}>
${entries.map(
            ({ message, stream }) => html`<span class=${stream} .textContent=${message + "\n"}></span>`,
          )}</pre
        >`
      : html`<p class="content faint">${text.log.empty}</p>`}
  </section>`;

/**
 * Payloads of the newest failures.
 *
 * @param failed the latest failure, whose line the editor shows
 */
export const payloads = (jobs: ExecutorJob[], failed: string): TemplateResult =>
  html`<section class="panel" aria-labelledby="payloads-title">
    <header>
      <h2 id="payloads-title">${text.payloads.title} <span class="faint">${text.payloads.ofLatest}</span></h2>
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
                        ${text.payloads.runEdited}
                      </button>`
                    : nothing}${signedIn.may("write") ? tryLink(job, failed, "button quiet") : nothing}</span
                >
                <json-tree name=${text.payloads.payload} .value=${job.payload}></json-tree>
              </li>`,
          )}
        </ul>`
      : html`<p class="content faint">${text.payloads.none}</p>`}
  </section>`;

export const issueFacts = (issue: Issue): TemplateResult =>
  html`<section class="panel" aria-labelledby="facts-title">
    <header><h2 id="facts-title">${text.facts.title}</h2></header>
    <dl class="facts content">
      <dt>${text.facts.firstSeen}</dt>
      <dd>${timeAgo(issue.first_seen_at)}</dd>
      <dt>${text.facts.lastSeen}</dt>
      <dd>${timeAgo(issue.last_seen_at)}</dd>
      ${issue.culprit
        ? html`<dt>${text.facts.place}</dt>
            <dd><code>${culpritText(issue)}</code></dd>`
        : nothing}
      <dt>${text.facts.reason}</dt>
      <dd>
        <a href="/executions?agent_id=${issue.agent_id}&reason=${issue.reason}">${issue.reason}</a>
      </dd>
      <dt>${text.facts.revisions}</dt>
      <dd>
        <ul>
          ${(issue.revisions ?? []).map(
            ({ revision, count }) =>
              html`<li class="row">
                <a href="/agents/${issue.agent_id}/revisions?revision=${revision}">${revision}</a>
                <span class="faint">${text.facts.failures(count)}</span>
              </li>`,
          )}
        </ul>
      </dd>
      <dt>${text.facts.issue}</dt>
      <dd>${idLink(issue.id)}</dd>
    </dl>
  </section>`;
