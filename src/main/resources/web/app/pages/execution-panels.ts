import { html, nothing, type TemplateResult } from "lit";
import type { Execution, ExecutorJob } from "../core/types";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { runDuration } from "../parts/executions/execution-result";
import { executionReason } from "../parts/executions/reasons";
import "../parts/code/json-tree";
import { text } from "../text/pages/execution-panels";

/** Panels that the pages of executions and of jobs share. */

/** One row of a list of facts; nothing where there is no value. */
export const fact = (name: string, value: unknown): unknown =>
  value
    ? html`<dt>${name}</dt>
        <dd>${value}</dd>`
    : nothing;

/** Where a job comes from, and its scheduling options. */
export const jobFacts = (job: ExecutorJob): TemplateResult =>
  html`${fact(text.schedule, job.schedule_id && idLink(job.schedule_id, `/schedules?q=${job.schedule_id}`))}
  ${fact(text.scheduledFor, job.scheduled_time && timeAgo(job.scheduled_time))}
  ${fact(text.calledBy, job.parent_id && idLink(job.parent_id, `/executor-jobs/${job.parent_id}`))}
  ${fact(text.batch, job.batch_id && idLink(job.batch_id))} ${fact(text.priority, job.priority)}
  ${fact(text.concurrencyKey, job.concurrency_key && html`<code>${job.concurrency_key}</code>`)}`;

export const payloadPanel = (job: ExecutorJob): TemplateResult =>
  html`<section class="panel" aria-labelledby="payload-title">
    <header><h2 id="payload-title">${text.payload}</h2></header>
    <div class="content"><json-tree name=${text.payload} .value=${job.payload}></json-tree></div>
  </section>`;

export const attemptsPanel = (attempts: Execution[], here = ""): TemplateResult =>
  html`<section class="panel" aria-labelledby="attempts-title">
    <header><h2 id="attempts-title">${text.attempts}</h2></header>
    <ol class="content attempts">
      ${attempts.map(
        (attempt) =>
          html`<li class="row">
            <span class="number faint">${attempt.attempt}</span>
            <a
              class="state-link"
              href="/executions/${attempt.id}"
              aria-current=${attempt.id === here ? "true" : nothing}
              >${stateBadge(attempt.state)}</a
            >
            ${attempt.reason
              ? html`<span class="small">${executionReason(attempt.reason).title}</span>`
              : nothing}
            <span class="grow"></span>${runDuration(attempt)}
          </li>`,
      )}
    </ol>
  </section>`;
