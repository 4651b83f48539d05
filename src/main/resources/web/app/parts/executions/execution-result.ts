import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { requestExactly } from "../../core/api";
import { between, duration } from "../../core/format";
import { Load } from "../../core/load";
import type { Execution } from "../../core/types";
import { text } from "../../text/parts/executions";
import { idLink, stateBadge } from "../page/basics";
import "../code/json-tree";
import "../logs/log-view";
import { loaded } from "../page/notices";
import { Part } from "../page/part";
import { executionReason, isHarmless } from "./reasons";
import "../page/ticking";

/** Reads an execution with its exact return value, and again whenever it changes. */
export const executionLoad = (host: Part, id: () => string): Load<Execution> =>
  new Load(
    host,
    async (signal) => (await requestExactly<Execution>("GET", `/executions/${id()}`, { signal })).value,
    (change) => change.subject === id(),
  );

/** The duration; counts while it runs. */
export const runDuration = (execution: Execution): TemplateResult =>
  execution.finished_at === null
    ? html`<ticking-duration .from=${execution.started_at}></ticking-duration>`
    : html`<span class="number">${duration(secondsOf(execution))}</span>`;

export const secondsOf = ({ timings, started_at, finished_at }: Execution): number =>
  timings?.running ?? between(started_at, finished_at);

/** Why it failed, and what to do about it; nothing if it did not fail. */
export function failureNotice(execution: Execution): unknown {
  const { reason, message, error } = execution;
  if (reason === null) {
    return nothing;
  }
  const { title, help } = executionReason(reason);
  const place = error?.line ? text.result.place(error.line, error.column) : "";
  return html`<section
    class="notice ${isHarmless(reason) ? "" : "failed"}"
    aria-label=${text.result.failureReason}
  >
    <strong>${title}${place ? html` <span class="faint">(${place})</span>` : nothing}</strong>
    ${message ? html`<pre>${message}</pre>` : nothing} ${help ? html`<p class="small">${help}</p>` : nothing}
    ${error?.traceback
      ? html`<details>
          <summary>${text.result.traceback}</summary>
          <pre>${error.traceback}</pre>
        </details>`
      : nothing}
  </section>`;
}

/** The return value of main. */
export const returnValue = (execution: Execution): unknown =>
  execution.state === "succeeded"
    ? html`<json-tree name=${text.result.returnValue} .value=${execution.return_value}></json-tree>`
    : nothing;

/** @param line the number of the entry to mark and show; 0: none */
export const executionLog = (execution: Execution, line = 0): TemplateResult =>
  html`<log-view
    .source="executions/${execution.id}"
    .live=${execution.state === "running"}
    .follow=${execution.state !== "succeeded"}
    .line=${line}
  ></log-view>`;

/**
 * The result of an execution: state, failure, return value and log. Fires `execution` with the Execution as
 * its detail on each change.
 */
@customElement("execution-result")
export class ExecutionResult extends Part {
  @property() executionId = "";
  /** Without headings. */
  @property({ type: Boolean }) compact = false;
  private readonly execution = executionLoad(this, () => this.executionId);
  private reported: Execution | undefined;

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("executionId")) {
      void this.execution.again(true);
    }
    if (this.execution.value !== this.reported) {
      this.reported = this.execution.value;
      this.dispatchEvent(new CustomEvent("execution", { detail: this.reported }));
    }
  }

  override render(): unknown {
    return loaded(
      this.execution,
      (execution) =>
        html`<div class="row" role="status">
            ${stateBadge(execution.state)} ${runDuration(execution)}
            <span class="grow"></span>
            ${idLink(execution.id, `/executions/${execution.id}`)}
          </div>
          ${failureNotice(execution)}
          ${execution.state === "succeeded"
            ? html`${this.heading(text.result.returnValue)} ${returnValue(execution)}`
            : nothing}
          ${this.heading(text.result.log)} ${executionLog(execution)}`,
    );
  }

  private heading(title: string): unknown {
    return this.compact ? nothing : html`<h2>${title}</h2>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "execution-result": ExecutionResult;
  }
}
