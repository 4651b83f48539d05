import { html, nothing, type TemplateResult } from "lit";
import { words } from "../../core/format";
import { text } from "../../text/parts/executions";

/** A reason in words, with what to do about it. */
export interface Reason {
  title: string;
  /** What people can do; "" when there is nothing to do. */
  help: string;
}

/** Why an Execution or an ExecutorJob did not succeed. */
const EXECUTION: Record<string, Reason> = text.reasons;

/** Why a BuilderJob did not succeed. */
const BUILD: Record<string, Reason> = text.buildReasons;

/** Why a job is queued. */
export const WAITING: Record<string, string> = text.waiting;

/** A reason in a row of a table; the code, by which the API filters, on hover. */
export const reasonCell = ({ title }: Reason, code: string, message: string | null): TemplateResult =>
  html`<span class="why cut" title=${message ? `${code}: ${message}` : code}
    >${title}${message ? html` <span class="faint">· ${message}</span>` : nothing}</span
  >`;

/** Reasons that are not failures. */
export const isHarmless = (reason: string | null): boolean =>
  reason === "cancelled" || reason === "superseded" || reason === "agent_deleted";

export const executionReason = (reason: string): Reason => EXECUTION[reason] ?? unknown(reason);
export const buildReason = (reason: string): Reason => BUILD[reason] ?? unknown(reason);

/** All reasons of executions, for filters. */
export const executionReasons: readonly string[] = Object.keys(EXECUTION);

/** A later version of Roost may have new reasons. */
function unknown(reason: string): Reason {
  const title = words(reason);
  return { title: title.charAt(0).toUpperCase() + title.slice(1), help: "" };
}
