import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { at, clockTime, duration } from "../../core/format";
import type { Execution, ExecutorJob } from "../../core/types";
import { text } from "../../text/parts/executions";
import { Part } from "../page/part";
import { WAITING } from "./reasons";
import "../page/ticking";

interface Step {
  name: keyof typeof text.timeline.steps;
  /** Seconds it took, or the time since which it lasts; null: not begun. */
  took: number | string | null;
  note: unknown;
}

/** The course of a job: queued → starting → running, with how long each took. */
@customElement("run-timeline")
export class RunTimeline extends Part {
  @property({ attribute: false }) job: ExecutorJob | null = null;
  @property({ attribute: false }) execution: Execution | null = null;

  override render() {
    const steps = this.steps();
    const longest = Math.max(0.001, ...steps.map(({ took }) => length(took)));
    return html`<ol class="steps" aria-label=${text.timeline.label}>
      ${steps.map((step) => this.step(step, longest))}
    </ol>`;
  }

  private step({ name, took, note }: Step, longest: number): TemplateResult {
    const kind = took === null ? "to-come" : typeof took === "string" ? "current" : "done";
    // A share of the width says more than figures do; set as a property, since styles in markup are forbidden.
    const share = took === null ? 0.5 : 0.2 + length(took) / longest;
    const ended = name === "running" ? (this.execution?.state ?? "") : "";
    return html`<li class="${name} ${kind} ${ended}" .style=${`flex-grow: ${share.toFixed(3)}`}>
      <span class="row"
        ><strong>${text.timeline.steps[name]}</strong>${took === null
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
    const steps: Step[] = [
      { name: "queued", took: timings?.queued ?? null, note: job ? clock(job.created_at) : nothing },
      {
        name: "starting",
        took: timings?.starting ?? null,
        note: cold_start ? text.timeline.coldStart : text.timeline.warm,
      },
      {
        name: "running",
        took: finished_at === null ? started_at : (timings?.running ?? between(started_at, finished_at)),
        note: clock(started_at),
      },
    ];
    // A run that failed early has no times of later steps.
    return finished_at === null ? steps : steps.filter(({ took }) => took !== null);
  }

  private waitNote(waits: string | undefined): unknown {
    const next = this.job?.next_attempt_at;
    return next ? text.timeline.until(waits ?? "", clock(next)) : waits;
  }
}

const length = (took: Step["took"]): number =>
  typeof took === "string" ? between(took, new Date().toISOString()) : (took ?? 0);

const clock = (time: string): TemplateResult =>
  html`<time datetime=${time} title=${at(time)}>${clockTime(time)}</time>`;

const between = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1000;

/** How long a job without an execution waited until it ended. */
const seconds = (job: ExecutorJob | null): number | null =>
  job?.finished_at ? between(job.created_at, job.finished_at) : null;

declare global {
  interface HTMLElementTagNameMap {
    "run-timeline": RunTimeline;
  }
}
