import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { at, duration } from "../core/format";
import type { Execution, ExecutorJob } from "../core/types";
import { timeAgo } from "./basics";
import { Part } from "./part";
import { WAITING } from "./reasons";
import "./ticking";

interface Step {
  name: string;
  /** Seconds it took, or the time since which it lasts; null: not begun. */
  took: number | string | null;
  note: unknown;
}

/** How an order went on: queued → starting → running, with how long each took. */
@customElement("run-timeline")
export class RunTimeline extends Part {
  @property({ attribute: false }) job: ExecutorJob | null = null;
  @property({ attribute: false }) execution: Execution | null = null;

  override render() {
    const steps = this.steps();
    const longest = Math.max(...steps.map(({ took }) => (typeof took === "number" ? took : 0)));
    return html`<ol class="steps" aria-label="Timeline">
      ${steps.map((step) => this.step(step, longest))}
    </ol>`;
  }

  private step({ name, took, note }: Step, longest: number): TemplateResult {
    const kind = took === null ? "to-come" : typeof took === "string" ? "current" : "done";
    // A share of the width says more than figures do; set as a property, since styles in markup are forbidden.
    const share = kind === "done" && longest ? 0.2 + (took as number) / longest : 0.5;
    const ended = name === "running" ? (this.execution?.state ?? "") : "";
    return html`<li class="${name} ${kind} ${ended}" .style=${`flex-grow: ${share.toFixed(3)}`}>
      <span class="row"
        ><strong>${name}</strong>${took === null
          ? nothing
          : typeof took === "number"
            ? html`<span class="number">${duration(took)}</span>`
            : html`<ticking-duration .from=${took}></ticking-duration>`}</span
      >
      <span class="faint small">${note}</span>
    </li>`;
  }

  private steps(): Step[] {
    const { job, execution } = this;
    if (execution === null) {
      const waits = job?.waiting_on ? WAITING[job.waiting_on] : "";
      const began = job && job.state === "queued" ? job.created_at : null;
      return [
        { name: "queued", took: began ?? seconds(job), note: this.waitNote(waits) },
        { name: "starting", took: null, note: nothing },
        { name: "running", took: null, note: nothing },
      ];
    }
    const { timings, started_at, finished_at, cold_start } = execution;
    return [
      { name: "queued", took: timings?.queued ?? null, note: job ? timeAgo(job.created_at) : nothing },
      {
        name: "starting",
        took: timings?.starting ?? null,
        note: cold_start ? "a new executor" : "an executor that was ready",
      },
      {
        name: "running",
        took: finished_at === null ? started_at : (timings?.running ?? between(started_at, finished_at)),
        note: timeAgo(started_at),
      },
    ];
  }

  private waitNote(waits: string | undefined): unknown {
    const next = this.job?.next_attempt_at;
    return html`${waits}${next
      ? html`, until <time datetime=${next} title=${at(next)}>${new Date(next).toLocaleTimeString()}</time>`
      : nothing}`;
  }
}

const between = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1000;

/** How long an order without an execution waited until it ended. */
const seconds = (job: ExecutorJob | null): number | null =>
  job?.finished_at ? between(job.created_at, job.finished_at) : null;

declare global {
  interface HTMLElementTagNameMap {
    "run-timeline": RunTimeline;
  }
}
