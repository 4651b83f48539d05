import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { at, between, bytes, duration } from "../core/format";
import { queried } from "../core/router";
import { signedIn } from "../core/session";
import { Polling } from "../core/polling";
import { router } from "../core/router";
import { offer } from "../core/shortcuts";
import type { Execution } from "../core/types";
import "../parts/agents/agent-link";
import "../parts/code/code-editor";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { ranSummary, ranText, tryAddress, tryLink } from "../parts/executions/draft-runs";
import { comparisonOf } from "../parts/executions/comparison-address";
import { executionLog, failureNotice, returnValue, runDuration } from "../parts/executions/execution-result";
import { loaded } from "../parts/page/notices";
import { cancelRun, runAgain, runEdited } from "../parts/executions/runs";
import { Part } from "../parts/page/part";
import { titlePage } from "../parts/page/titles";
import "../parts/executions/emitted-values";
import "../parts/executions/job-files";
import "../parts/executions/job-steps";
import "../parts/executions/timeline";
import { common } from "../text/common";
import { text } from "../text/pages/execution";
import { explainedLoad, neighboursLoad, type Explained } from "./execution-load";
import { attemptsPanel, fact, jobFacts, payloadPanel } from "./execution-panels";

/** Milliseconds between readings until a failure is grouped. */
const LOOK = 1_000;
/** Seconds after which a failure is grouped, or never will be. */
const GROUPED = 15;

/** Of the editor with the script that ran; a draft is opened as unsaved changes. */
function editAddress({ id, agent_id, executor_job_id, draft, error }: Execution): string {
  const failed = error?.line ? id : null;
  return draft
    ? tryAddress({ id: executor_job_id, agent_id }, failed)
    : `/agents/${agent_id}${failed ? `?execution=${failed}` : ""}`;
}

/** One execution: its outcome, the reason, and what to do about it. */
@customElement("execution-page")
export class ExecutionPage extends Part {
  @property() executionId = "";
  private readonly load = explainedLoad(this, () => this.executionId);
  private readonly neighbours = neighboursLoad(this, () => this.load.value?.execution);
  /** The execution whose neighbours are read, and its state then. */
  private neighboursOf = "";
  private endOffers: (() => void)[] = [];

  constructor() {
    super();
    // A failure is grouped a moment after its end, without an event if its issue is open already.
    new Polling(this, this.neighbours, () => this.awaitsIssue(), LOOK);
  }

  private awaitsIssue(): boolean {
    const { reason, finished_at } = this.load.value?.execution ?? {};
    return !!reason && !!finished_at && !this.neighbours.value?.issue && between(finished_at, null) < GROUPED;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const step = (title: string, keys: string, to: "previous" | "next") =>
      offer({
        title,
        keys,
        group: text.shortcuts.group,
        run: () => {
          const id = this.neighbours.value?.[to]?.id;
          if (id) {
            void router.go(`/executions/${id}`);
          }
        },
      });
    this.endOffers.push(
      step(text.shortcuts.previous, "[", "previous"),
      step(text.shortcuts.next, "]", "next"),
    );
    this.endOffers.push(
      offer({
        title: text.shortcuts.runAgain,
        keys: "mod+enter",
        group: text.shortcuts.group,
        run: () => {
          const job = this.load.value?.job;
          if (job && signedIn.may("execute")) {
            void runAgain(job);
          }
        },
      }),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endOffers.splice(0).forEach((end) => end());
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("executionId")) {
      void this.load.again(true);
    }
    const execution = this.load.value?.execution;
    if (execution?.id === this.executionId) {
      void titlePage(execution.agent_id, execution.state);
      const read = `${execution.id} ${execution.state}`;
      if (this.neighboursOf !== read) {
        this.neighboursOf = read;
        void this.neighbours.again();
      }
    }
  }

  override render() {
    const value = this.load.value;
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        ${idLink(this.executionId)} ${this.steps()}
        <div class="actions">${value ? this.actions(value) : nothing}</div>
      </div>
      ${loaded(this.load, (explained) => this.show(explained))}`;
  }

  /** To the neighbours. */
  private steps(): TemplateResult {
    const { previous, next, success } = this.neighbours.value ?? {};
    const base = success ?? previous;
    const link = (to: Execution | undefined, name: string, title: string) =>
      to ? html`<a href="/executions/${to.id}" title=${title}>${name}</a>` : nothing;
    return html`<nav class="row small" aria-label=${text.neighbours}>
      ${link(previous, text.previous, text.previousTitle)} ${link(next, text.next, text.nextTitle)}
      ${base
        ? html`<a href=${comparisonOf(base.id, this.executionId)}
            >${success ? text.compareWithSuccess : text.compareWithPrevious}</a
          >`
        : nothing}
    </nav>`;
  }

  private actions({ execution, job, agent }: Explained): unknown {
    if (!signedIn.may("execute")) {
      return html`<span class="faint small">${text.readOnly}</span>`;
    }
    return html`${job && (execution.state === "running" || job.state === "suspended")
      ? html`<button class="danger" @click=${() => void cancelRun(job)}>${text.cancel}</button>`
      : nothing}
    ${job && agent && signedIn.may("write")
      ? tryLink(job, execution.error?.line ? execution.id : null)
      : nothing}
    ${job && agent
      ? html`<button title=${text.runEditedTitle} @click=${() => void runEdited(job)}>
            ${text.runEdited}
          </button>
          <button title=${text.runAgainTitle} @click=${() => void runAgain(job)}>${text.runAgain}</button>`
      : nothing}`;
  }

  private show(explained: Explained): TemplateResult {
    const { execution, job } = explained;
    const script = this.script(explained);
    const marked = execution.error?.line != null;
    return html`${this.summary(explained)}
      <run-timeline .job=${job} .execution=${execution}></run-timeline>
      ${this.jobNotice(explained)} ${failureNotice(execution)} ${this.issueNotice()}
      <div class="beside">
        <div class="column">
          ${execution.state === "succeeded"
            ? html`<section class="panel" aria-labelledby="return-title">
                <header><h2 id="return-title">${text.returnValue}</h2></header>
                <div class="content">${returnValue(execution)}</div>
              </section>`
            : nothing}
          ${marked ? script : nothing}
          <emitted-values
            .executionId=${execution.id}
            ?live=${execution.state === "running"}
          ></emitted-values>
          <job-files .jobId=${execution.executor_job_id} ?live=${execution.state === "running"}></job-files>
          <job-steps
            .jobId=${execution.executor_job_id}
            ?live=${execution.state === "running"}
            ?unfinished=${job?.finished_at === null}
          ></job-steps>
          <section aria-labelledby="log-title" class="column log-section">
            <h2 id="log-title">${text.log}</h2>
            ${execution.logs_truncated ? html`<p class="notice waiting">${text.logTruncated}</p>` : nothing}
            ${executionLog(execution, Number.parseInt(queried("line"), 10) || 0)}
          </section>
          ${marked ? nothing : script}
        </div>
        <div class="column">
          ${this.facts(explained)} ${job ? payloadPanel(job) : nothing}
          ${explained.attempts.length > 1 ? attemptsPanel(explained.attempts, execution.id) : nothing}
        </div>
      </div>`;
  }

  private summary({ execution, attempts }: Explained): TemplateResult {
    const place = attempts.findIndex(({ id }) => id === execution.id);
    const step = (to: Execution | undefined, word: string) =>
      to ? html`<a href="/executions/${to.id}">${word}</a>` : nothing;
    return html`<div class="row summary" role="status">
      <strong>${stateBadge(execution.state)}</strong>
      <agent-link .agentId=${execution.agent_id}></agent-link>
      ${ranSummary(execution)} ${runDuration(execution)}
      <span class="faint">${text.started}</span> ${timeAgo(execution.started_at)}
      ${attempts.length > 1
        ? html`<span class="row"
            ><span class="faint">${text.attemptOf(execution.attempt, attempts.length)}</span> ${step(
              attempts[place - 1],
              text.previousAttempt,
            )}
            ${step(attempts[place + 1], text.nextAttempt)}</span
          >`
        : nothing}
    </div>`;
  }

  /** Shown when the job continues, or ended differently from this attempt. */
  private jobNotice({ execution, job, attempts }: Explained): unknown {
    const last = attempts.at(-1);
    if (job && job.state === "queued" && last?.id === execution.id) {
      return html`<p class="notice waiting">
        <span>${text.waiting} <a href="/executor-jobs/${job.id}">${text.viewRun}</a></span>
      </p>`;
    }
    if (job?.state === "suspended" && last?.id === execution.id) {
      const time = job.resume_at && html`<time datetime=${job.resume_at}>${at(job.resume_at)}</time>`;
      return html`<p class="notice waiting">
        <span
          >${job.waiting_on === "event"
            ? text.awaitingEvent
            : job.waiting_on === "approval"
              ? text.awaitingApproval(html`<a href="/approvals">${text.approvals}</a>`)
              : time
                ? text.suspended(time)
                : text.calling}</span
        >
      </p>`;
    }
    const next = attempts[attempts.findIndex(({ id }) => id === execution.id) + 1];
    if (execution.state === "suspended" && next) {
      const link = html`<a href="/executions/${next.id}">${text.nextExecution}</a>`;
      return html`<p class="notice">
        <span
          >${next.state === "running"
            ? text.continuedRunning(link)
            : text.continuedEnded(link, stateBadge(next.state))}</span
        >
      </p>`;
    }
    if (last && last.id !== execution.id) {
      const attempt = html`<a href="/executions/${last.id}">${text.attempt(last.attempt)}</a>`;
      return html`<p class="notice">
        <span
          >${last.state === "running"
            ? text.retriedRunning(attempt)
            : text.retriedEnded(attempt, stateBadge(last.state))}</span
        >
      </p>`;
    }
    return nothing;
  }

  private issueNotice(): unknown {
    const issue = this.neighbours.value?.issue;
    return issue
      ? html`<p class="row small">
          <span class="faint">${text.issue}</span> <a href="/issues/${issue.id}">${issue.title}</a>
          <span class="faint">${text.failures(issue.count)}</span>
        </p>`
      : nothing;
  }

  private script({ execution, revision, agent }: Explained): unknown {
    if (revision === null) {
      return nothing;
    }
    const { error } = execution;
    const marks = error?.line
      ? [
          {
            line: error.line,
            column: error.column ?? undefined,
            message: `${error.type}: ${error.message}`,
            severity: "error",
          },
        ]
      : [];
    const ran = ranText(execution);
    return html`<section class="panel" aria-labelledby="script-title">
      <header>
        <h2 id="script-title">
          ${text.script}
          <span class="faint">${error?.line ? text.ranAtLine(ran, error.line) : ran}</span>
        </h2>
        ${agent ? html`<a href=${editAddress(execution)}>${common.edit}</a>` : nothing}
      </header>
      <code-editor
        class="script"
        label=${execution.draft ? text.scriptOfThe(ran) : text.scriptOf(ran)}
        language="python"
        readonly
        .value=${revision.script}
        .marks=${marks}
        .line=${error?.line ?? 0}
      ></code-editor>
    </section>`;
  }

  private facts({ execution, job, agent }: Explained): TemplateResult {
    const { usage, timings } = execution;
    const cpu = usage?.cpu_seconds ?? null;
    const memory = usage?.max_memory_bytes ?? null;
    // Of a shorter one, the start takes most of the time of the processor.
    const share = cpu !== null && timings?.running && timings.running >= 1 ? cpu / timings.running : null;
    return html`<section class="panel" aria-labelledby="details-title">
      <header><h2 id="details-title">${text.details}</h2></header>
      <dl class="facts content">
        ${fact(text.startedAt, timeAgo(execution.started_at))}
        ${fact(text.finishedAt, execution.finished_at && timeAgo(execution.finished_at))}
        ${fact(
          text.cpu,
          cpu !== null &&
            html`<span class="number">${duration(cpu)}</span>${share === null || !agent
                ? nothing
                : html` <span class="faint">${text.averageCores(share.toFixed(2), agent.cpu)}</span>`}`,
        )}
        ${fact(
          text.memory,
          memory !== null &&
            html`<span class="number">${bytes(memory)}</span>${agent
                ? html` <span class="faint">${text.ofMemory(bytes(agent.memory * 1024 * 1024))}</span>`
                : nothing}`,
        )}
        ${fact(
          text.run,
          idLink(execution.executor_job_id, `/executor-jobs/${execution.executor_job_id}?stay=1`),
        )}
        ${fact(text.build, execution.build_id && idLink(execution.build_id, `/builds/${execution.build_id}`))}
        ${job ? jobFacts(job) : nothing}
      </dl>
    </section>`;
  }
}
