import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { requestExactly } from "../../core/api";
import { at, duration } from "../../core/format";
import { Load } from "../../core/load";
import { Polling } from "../../core/polling";
import type { Page, Step } from "../../core/types";
import { signedIn } from "../../core/session";
import { common } from "../../text/common";
import { text } from "../../text/parts/executions";
import "../code/json-tree";
import { stateBadge } from "../page/basics";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";
import { sendEvent } from "./send-event";

const PAGE = 50;
/** Milliseconds between readings while the job runs: steps have no events. */
const POLL = 2_000;

interface Steps {
  steps: Step[];
  more: boolean;
}

/** The durable steps of a job; nothing while it has none. */
@customElement("job-steps")
export class JobSteps extends Part {
  @property() jobId = "";
  /** Whether further steps may follow. */
  @property({ type: Boolean }) live = false;
  /** Whether the job has not ended, so that its script may receive events. */
  @property({ type: Boolean }) unfinished = false;
  @state() private opened = new Set<number>();
  private rowLimit = PAGE;
  private readonly load = new Load<Steps>(
    this,
    (signal) => this.read(signal),
    (change) => change.subject === this.jobId || change.data.executor_job_id === this.jobId,
    () => this.jobId !== "",
  );

  constructor() {
    super();
    new Polling(this, this.load, () => this.live && !this.load.value?.more, POLL);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("jobId") && changed.get("jobId")) {
      this.rowLimit = PAGE;
      this.opened = new Set();
      void this.load.again(true);
    }
  }

  override render() {
    const { value, problem } = this.load;
    if (problem && !value) {
      return problemNotice(problem);
    }
    if (!value?.steps.length) {
      return nothing;
    }
    return html`<section class="panel" aria-labelledby="steps-title">
      <header><h2 id="steps-title">${text.steps.title}</h2></header>
      <ol class="content step-list">
        ${repeat(
          value.steps,
          ({ number }) => number,
          (step) => this.row(step, value.steps),
        )}
      </ol>
      ${value.more
        ? html`<p class="content">
            <button ?disabled=${this.load.loading} @click=${this.more}>
              ${this.load.loading ? common.loading : common.showMore}
            </button>
          </p>`
        : nothing}
    </section>`;
  }

  private row(step: Step, steps: Step[]): TemplateResult {
    const isOpen = this.opened.has(step.number);
    const isReplaced = steps.some(({ path, number }) => path === step.path && number > step.number);
    // Steps within others are indented.
    const depth = Math.min(step.path.split("/").length - 1, 4);
    return html`<li .style=${`--depth: ${depth}`}>
      <details
        ?open=${isOpen}
        @toggle=${(e: Event) => this.toggle(step.number, (e.target as HTMLDetailsElement).open)}
      >
        <summary>
          <span class="row">
            <span class="name">${step.name}</span>
            ${step.state === "succeeded" ? nothing : stateBadge(step.state)}
            ${isReplaced ? html`<span class="faint small">${text.steps.ranAgain}</span>` : nothing}
            ${step.attempts > 1
              ? html`<span class="faint small">${text.steps.calls(step.attempts)}</span>`
              : nothing}
            <span class="grow"></span
            ><span class="number"
              >${step.until && step.kind === "sleep"
                ? at(step.until)
                : step.state === "waiting"
                  ? nothing
                  : duration(step.duration_seconds)}</span
            ></span
          >
        </summary>
        ${isOpen ? this.content(step) : nothing}
      </details>
      ${step.kind === "event" && step.state === "waiting" && this.unfinished && signedIn.may("execute")
        ? html`<p>
            <button @click=${() => void this.send(step)}>${text.steps.sendEvent}</button>
          </p>`
        : nothing}
    </li>`;
  }

  private content(step: Step): TemplateResult {
    const { name, state: ended, error, result, execution_id, called_job_id: called } = step;
    return html`${error
        ? html`<pre>${error.traceback ?? `${error.type}: ${error.message}`}</pre>`
        : ended === "waiting"
          ? nothing
          : html`<json-tree name=${text.steps.resultOf(name)} .value=${result}></json-tree>`}
      <p class="small">
        ${step.event_name
          ? html`<span class="faint">${text.steps.event(step.event_name, step.event_key)}</span> · `
          : nothing}
        ${step.approval_id
          ? html`<a href="/approvals/${step.approval_id}">${text.steps.approval}</a> · `
          : nothing}
        ${called ? html`<a href="/executor-jobs/${called}">${text.steps.called}</a> · ` : nothing}
        <a href="/executions/${execution_id}">${text.steps.execution}</a>
      </p>`;
  }

  private async send(step: Step): Promise<void> {
    if (await sendEvent(this.jobId, step)) {
      void this.load.again();
    }
  }

  private toggle(number: number, isOpen: boolean): void {
    const opened = new Set(this.opened);
    if (isOpen) {
      opened.add(number);
    } else {
      opened.delete(number);
    }
    this.opened = opened;
  }

  private more(): void {
    this.rowLimit += 4 * PAGE;
    void this.load.again();
  }

  private async read(signal: AbortSignal): Promise<Steps> {
    const steps: Step[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<Step> = (
        await requestExactly<Page<Step>>("GET", `/executor-jobs/${this.jobId}/steps`, {
          query: { limit: Math.min(200, this.rowLimit - steps.length), cursor },
          signal,
        })
      ).value;
      steps.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null && steps.length < this.rowLimit);
    return { steps: steps.sort(inScript), more: cursor !== null };
  }
}

/** Steps before those that are part of them, as in the script. */
function inScript(one: Step, other: Step): number {
  const [ones, others] = [one.path.split("/"), other.path.split("/")];
  for (const [at, part] of ones.entries()) {
    const against = others[at];
    if (against === undefined) {
      return 1;
    }
    if (part !== against) {
      // Those of threads and tasks are known by their names, and stay in the order of their ends.
      return Number(part) - Number(against) || one.number - other.number;
    }
  }
  return ones.length - others.length || one.number - other.number;
}

declare global {
  interface HTMLElementTagNameMap {
    "job-steps": JobSteps;
  }
}
