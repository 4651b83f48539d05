import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { all, requestExactly } from "../core/api";
import { at, between, duration } from "../core/format";
import { Load } from "../core/load";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { Execution, ExecutorJob } from "../core/types";
import "../parts/agents/agent-link";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { loaded } from "../parts/page/notices";
import { cancelRun, runAgain } from "../parts/executions/runs";
import { Part } from "../parts/page/part";
import { titlePage } from "../parts/page/titles";
import { ranSummary, tryLink } from "../parts/executions/draft-runs";
import { WAITING, executionReason, isHarmless } from "../parts/executions/reasons";
import "../parts/executions/job-files";
import "../parts/executions/job-steps";
import "../parts/executions/timeline";
import { text } from "../text/pages/executor-job";
import { attemptsPanel, fact, jobFacts, payloadPanel } from "./execution-panels";

interface Loaded {
  job: ExecutorJob;
  attempts: Execution[];
}

/**
 * A job that is queued, or that ended without an execution. As soon as it runs, the page redirects to its
 * execution, unless the address has `?stay=1`.
 */
@customElement("executor-job-page")
export class ExecutorJobPage extends Part {
  @property() jobId = "";
  private readonly load = new Load<Loaded>(
    this,
    async (signal) => {
      const [{ value: job }, attempts] = await Promise.all([
        requestExactly<ExecutorJob>("GET", `/executor-jobs/${this.jobId}`, { signal }),
        all<Execution>("/executions", { executor_job_id: this.jobId }, signal),
      ]);
      return { job, attempts: attempts.reverse() };
    },
    (change) => change.subject === this.jobId || change.data.executor_job_id === this.jobId,
  );

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("jobId")) {
      void this.load.again(true);
    }
    const job = this.load.value?.job;
    if (job?.id === this.jobId) {
      void titlePage(job.agent_id, job.state);
    }
    if (
      job?.id === this.jobId &&
      job.execution &&
      !queried("stay") &&
      isShownByExecution(job, job.execution)
    ) {
      void router.go(`/executions/${job.execution.id}`, { replace: true });
    }
  }

  override render() {
    const job = this.load.value?.job;
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        ${idLink(this.jobId)}
        <div class="actions">${job ? this.actions(job) : nothing}</div>
      </div>
      ${loaded(this.load, (value) => this.show(value))}`;
  }

  private actions(job: ExecutorJob): unknown {
    if (!signedIn.may("execute")) {
      return html`<span class="faint small">${text.readOnly}</span>`;
    }
    return job.finished_at === null
      ? html`<button class="danger" @click=${() => void cancelRun(job)}>${text.cancel}</button>`
      : html`${signedIn.may("write") ? tryLink(job, null) : nothing}
          <button @click=${() => void runAgain(job)}>${text.runAgain}</button>`;
  }

  private show({ job, attempts }: Loaded): TemplateResult {
    return html`<div class="row summary" role="status">
        <strong>${stateBadge(job.state)}</strong>
        <agent-link .agentId=${job.agent_id}></agent-link>
        ${ranSummary(job)}
        <span class="faint">${text.created}</span> ${timeAgo(job.created_at)}
      </div>
      <run-timeline .job=${job} .execution=${job.state === "queued" ? null : job.execution}></run-timeline>
      ${this.waits(job)} ${this.failure(job)}
      <div class="beside">
        <div class="column">
          ${payloadPanel(job)}${attempts.length ? attemptsPanel(attempts) : nothing}
          <job-files .jobId=${job.id} ?live=${job.state === "running"}></job-files>
          <job-steps .jobId=${job.id} ?unfinished=${job.finished_at === null}></job-steps>
        </div>
        <div class="column">${this.facts(job)}</div>
      </div>`;
  }

  private waits(job: ExecutorJob): unknown {
    if (job.state !== "queued" && job.state !== "suspended") {
      return nothing;
    }
    const next = job.next_attempt_at ?? job.resume_at;
    return html`<section class="notice waiting" aria-label=${text.waitingFor}>
      <strong>${WAITING[job.waiting_on ?? ""] ?? text.queued}</strong>
      ${job.message ? html`<p>${job.message}</p>` : nothing}
      ${next ? html`<p>${text.notBefore(html`<time datetime=${next}>${at(next)}</time>`)}</p>` : nothing}
      ${job.waiting_on === "build"
        ? html`<p><a href="/agents/${job.agent_id}/builds">${text.viewBuilds}</a></p>`
        : job.waiting_on === "concurrency"
          ? html`<p>
              <a href="/executions?agent_id=${job.agent_id}&state=running">${text.viewRunning}</a>
            </p>`
          : nothing}
    </section>`;
  }

  private failure(job: ExecutorJob): unknown {
    if (job.reason === null) {
      return nothing;
    }
    const { title, help } = executionReason(job.reason);
    return html`<section
      class="notice ${isHarmless(job.reason) ? "" : "failed"}"
      aria-label=${text.failureReason}
    >
      <strong>${title}</strong>
      ${job.message ? html`<pre>${job.message}</pre>` : nothing}
      ${help ? html`<p class="small">${help}</p>` : nothing}
      ${job.reason === "build_failed"
        ? html`<p><a href="/agents/${job.agent_id}/builds">${text.viewBuilds}</a></p>`
        : nothing}
    </section>`;
  }

  private facts(job: ExecutorJob): TemplateResult {
    return html`<section class="panel" aria-labelledby="details-title">
      <header><h2 id="details-title">${text.details}</h2></header>
      <dl class="facts content">
        ${fact(text.createdAt, timeAgo(job.created_at))}
        ${fact(
          text.finishedAt,
          job.finished_at &&
            html`${timeAgo(job.finished_at)}
              <span class="faint">${text.after(duration(between(job.created_at, job.finished_at)))}</span>`,
        )}
        ${fact(text.attempts, String(job.attempts))} ${jobFacts(job)}
      </dl>
    </section>`;
  }
}

/** Whether the page of its last execution shows everything about the job. */
const isShownByExecution = (job: ExecutorJob, execution: Execution): boolean =>
  job.state === "running" ||
  job.state === "succeeded" ||
  (job.state !== "queued" && job.reason === execution.reason);
