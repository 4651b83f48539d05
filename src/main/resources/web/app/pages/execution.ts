import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { bytes, duration } from "../core/format";
import { signedIn } from "../core/session";
import { offer } from "../core/shortcuts";
import type { Execution } from "../core/types";
import "../parts/agents/agent-link";
import "../parts/code/code-editor";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { executionLog, failureNotice, returnValue, runDuration } from "../parts/executions/execution-result";
import { loaded } from "../parts/page/notices";
import { cancelRun, runAgain, runEdited } from "../parts/executions/runs";
import { Part } from "../parts/page/part";
import { titlePage } from "../parts/page/titles";
import "../parts/executions/timeline";
import { explainedLoad, type Explained } from "./execution-load";
import { attemptsPanel, fact, jobFacts, payloadPanel } from "./execution-panels";

/** One execution: its outcome, the reason, and what to do about it. */
@customElement("execution-page")
export class ExecutionPage extends Part {
  @property() executionId = "";
  private readonly load = explainedLoad(this, () => this.executionId);
  private endOffer: (() => void) | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endOffer = offer({
      title: "Run again with the same payload",
      keys: "mod+enter",
      group: "Execution",
      run: () => {
        const job = this.load.value?.job;
        if (job && signedIn.may("execute")) {
          void runAgain(job);
        }
      },
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endOffer?.();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("executionId")) {
      void this.load.again(true);
    }
    const execution = this.load.value?.execution;
    if (execution?.id === this.executionId) {
      void titlePage(execution.agent_id, execution.state);
    }
  }

  override render() {
    const value = this.load.value;
    return html`<div class="page-head">
        <h1>Execution</h1>
        ${idLink(this.executionId)}
        <div class="actions">${value ? this.actions(value) : nothing}</div>
      </div>
      ${loaded(this.load, (explained) => this.show(explained))}`;
  }

  private actions({ execution, job, agent }: Explained): unknown {
    if (!signedIn.may("execute")) {
      return html`<span class="faint small">Your API key is read-only.</span>`;
    }
    return html`${execution.state === "running" && job
      ? html`<button class="danger" @click=${() => void cancelRun(job)}>Cancel execution</button>`
      : nothing}
    ${job && agent
      ? html`<button
            title="Runs the agent's newest revision with a payload based on this one"
            @click=${() => void runEdited(job)}
          >
            Run with edited payload
          </button>
          <button
            title="Runs the agent's newest revision with the same payload"
            @click=${() => void runAgain(job)}
          >
            Run again
          </button>`
      : nothing}`;
  }

  private show(explained: Explained): TemplateResult {
    const { execution, job } = explained;
    const script = this.script(explained);
    const marked = execution.error?.line != null;
    return html`${this.summary(explained)}
      <run-timeline .job=${job} .execution=${execution}></run-timeline>
      ${this.jobNotice(explained)} ${failureNotice(execution)}
      <div class="beside">
        <div class="column">
          ${execution.state === "succeeded"
            ? html`<section class="panel" aria-labelledby="return-title">
                <header><h2 id="return-title">Return value</h2></header>
                <div class="content">${returnValue(execution)}</div>
              </section>`
            : nothing}
          ${marked ? script : nothing}
          <section aria-labelledby="log-title" class="column log-section">
            <h2 id="log-title">Log</h2>
            ${execution.logs_truncated
              ? html`<p class="notice waiting">
                  The log was truncated: Roost kept the beginning and the end.
                </p>`
              : nothing}
            ${executionLog(execution)}
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
      <span class="faint">revision ${execution.agent_revision}</span>
      ${runDuration(execution)} <span class="faint">started</span> ${timeAgo(execution.started_at)}
      ${attempts.length > 1
        ? html`<span class="row"
            ><span class="faint">attempt ${execution.attempt} of ${attempts.length}</span> ${step(
              attempts[place - 1],
              "previous",
            )}
            ${step(attempts[place + 1], "next")}</span
          >`
        : nothing}
    </div>`;
  }

  /** Shown when the job continues, or ended differently from this attempt. */
  private jobNotice({ execution, job, attempts }: Explained): unknown {
    const last = attempts.at(-1);
    if (job && job.state === "queued" && last?.id === execution.id) {
      return html`<p class="notice waiting">
        <span>Waiting for the next attempt. <a href="/executor-jobs/${job.id}">View run</a></span>
      </p>`;
    }
    if (last && last.id !== execution.id) {
      return html`<p class="notice">
        <span
          >Retried: <a href="/executions/${last.id}">attempt ${last.attempt}</a> ${last.state === "running"
            ? "is running"
            : "ended:"}
          ${last.state === "running" ? nothing : stateBadge(last.state)}</span
        >
      </p>`;
    }
    return nothing;
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
    return html`<section class="panel" aria-labelledby="script-title">
      <header>
        <h2 id="script-title">
          Script
          <span class="faint"
            >revision ${execution.agent_revision}${error?.line ? `, line ${error.line}` : ""}</span
          >
        </h2>
        ${agent
          ? html`<a href="/agents/${agent.id}${error?.line ? `?execution=${execution.id}` : ""}">Edit</a>`
          : nothing}
      </header>
      <code-editor
        class="script"
        label="Script of revision ${execution.agent_revision}"
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
    const share = cpu !== null && timings?.running ? cpu / timings.running : null;
    return html`<section class="panel" aria-labelledby="details-title">
      <header><h2 id="details-title">Details</h2></header>
      <dl class="facts content">
        ${fact("Started", timeAgo(execution.started_at))}
        ${fact("Finished", execution.finished_at && timeAgo(execution.finished_at))}
        ${fact(
          "CPU",
          cpu !== null &&
            html`<span class="number">${duration(cpu)}</span>${share === null || !agent
                ? nothing
                : html` <span class="faint"
                    >average ${share.toFixed(2)} cores, ${agent.cpu} requested</span
                  >`}`,
        )}
        ${fact(
          "Memory",
          memory !== null &&
            html`<span class="number">${bytes(memory)}</span>${agent
                ? html` <span class="faint">of ${bytes(agent.memory * 1024 * 1024)}</span>`
                : nothing}`,
        )}
        ${fact(
          "Run",
          idLink(execution.executor_job_id, `/executor-jobs/${execution.executor_job_id}?stay=1`),
        )}
        ${fact("Build", execution.build_id && idLink(execution.build_id, `/builds/${execution.build_id}`))}
        ${job ? jobFacts(job) : nothing}
      </dl>
    </section>`;
  }
}
