import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import type { Query } from "../../core/api";
import { PagedLoad } from "../../core/load";
import type { Execution, ExecutorJob } from "../../core/types";
import "../agents/agent-link";
import { stateBadge, timeAgo } from "../page/basics";
import { runDuration } from "./execution-result";
import { emptyState } from "../page/notices";
import { Part } from "../page/part";
import { WAITING, executionReason, reasonCell } from "./reasons";
import { pagedTable, table, type Column } from "../page/tables";
import "../page/ticking";

const executionLink = (execution: Execution): TemplateResult =>
  html`<a class="state-link" href="/executions/${execution.id}" title=${execution.id}
    >${stateBadge(execution.state)}</a
  >`;

const why = ({ reason, message }: Execution): unknown =>
  reason === null ? nothing : reasonCell(executionReason(reason), reason, message);

const COLUMNS: (Column<Execution> & { agent?: boolean })[] = [
  { title: "State", cell: executionLink },
  {
    title: "Agent",
    cell: (execution) => html`<agent-link .agentId=${execution.agent_id}></agent-link>`,
    agent: true,
  },
  {
    title: "Started",
    cell: ({ id, started_at }) =>
      html`<a class="quiet-link" href="/executions/${id}">${timeAgo(started_at)}</a>`,
  },
  { title: "Duration", cell: runDuration, number: true },
  {
    title: "Attempt",
    cell: ({ attempt }) => (attempt > 1 ? html`<span class="number">${attempt}</span>` : nothing),
    number: true,
  },
  { title: "Reason", cell: why },
];

const QUEUED_COLUMNS: (Column<ExecutorJob> & { agent?: boolean })[] = [
  {
    title: "State",
    cell: (job) => html`<a class="state-link" href="/executor-jobs/${job.id}">${stateBadge("queued")}</a>`,
  },
  { title: "Agent", cell: (job) => html`<agent-link .agentId=${job.agent_id}></agent-link>`, agent: true },
  {
    title: "Waiting",
    cell: (job) => html`<ticking-duration .from=${job.created_at}></ticking-duration>`,
    number: true,
  },
  {
    title: "Attempts",
    cell: ({ attempts }) => (attempts ? html`<span class="number">${attempts}×</span>` : nothing),
    number: true,
  },
  {
    title: "Waiting for",
    cell: (job) => html`<span class="faint">${WAITING[job.waiting_on ?? ""] ?? ""}</span>`,
  },
];

/** Executions, newest first, and above them the queued jobs. */
@customElement("execution-table")
export class ExecutionTable extends Part {
  /** Only those of this agent; "": of all, with a column for the agent. */
  @property() agentId = "";
  /** Filters of GET /executions: state, reason, started_after, started_before. */
  @property({ attribute: false }) filters: Query = {};
  /** Whether queued jobs are shown. */
  @property({ attribute: false }) queued = true;
  @property({ attribute: false }) executions = true;

  private readonly jobs = new PagedLoad<ExecutorJob>(
    this,
    () => "/executor-jobs",
    () => ({ state: "queued", agent_id: this.agentId }),
    (change) => change.type.startsWith("executor_job.") && this.isOurs(change.agent_id),
  );
  private readonly runs = new PagedLoad<Execution>(
    this,
    () => "/executions",
    () => ({ agent_id: this.agentId, ...this.filters }),
    (change) => change.type.startsWith("execution.") && this.isOurs(change.agent_id),
  );

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get("filters");
    if (changed.get("agentId") !== undefined || (before && !same(before, this.filters))) {
      void this.jobs.again(true);
      void this.runs.again(true);
    }
  }

  override render() {
    const columns = <C extends { agent?: boolean }>(all: C[]) => all.filter((c) => !c.agent || !this.agentId);
    const waiting = this.jobs.value?.data ?? [];
    return html`${this.queued && waiting.length
      ? html`<section class="panel queued-runs" aria-labelledby="queued-title">
          <header>
            <h2 id="queued-title">
              Queued runs
              <span class="faint">${waiting.length}${this.jobs.value?.next_cursor ? "+" : ""}</span>
            </h2>
          </header>
          ${table("List of queued runs", columns(QUEUED_COLUMNS), waiting)}
        </section>`
      : nothing}
    ${this.executions
      ? html`<section class="panel" aria-label="Executions">
          ${pagedTable("List of executions", columns(COLUMNS), this.runs, () => this.none())}
        </section>`
      : this.queued && this.jobs.value && !waiting.length
        ? html`<section class="panel">${emptyState("No queued runs", "All runs have started.")}</section>`
        : nothing}`;
  }

  private none(): TemplateResult {
    return Object.values(this.filters).some(Boolean)
      ? emptyState("No matching executions", "Change the filters. The list updates live.")
      : emptyState(
          "No executions yet",
          "Each run of an agent appears here, with its log and return value.",
          this.agentId ? nothing : html`<a class="button" href="/agents">Choose an agent to run</a>`,
        );
  }

  private isOurs(agentId: string | null): boolean {
    return !this.agentId || agentId === this.agentId;
  }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

declare global {
  interface HTMLElementTagNameMap {
    "execution-table": ExecutionTable;
  }
}
