import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get, type Query } from "../../core/api";
import { bounded } from "../../core/format";
import { Load, PagedLoad, type Concerns } from "../../core/load";
import type { Count, Execution } from "../../core/types";
import { text } from "../../text/parts/executions";
import { emptyState } from "../page/notices";
import { Part } from "../page/part";
import { shownColumns } from "../page/list-tools";
import { pagedTable } from "../page/tables";
import { Selection } from "../page/selection";
import { executionActions } from "./bulk-executions";
import { executionColumns } from "./execution-columns";
import "./queued-runs";

/** Executions, newest first, and above them queued and suspended jobs. */
@customElement("execution-table")
export class ExecutionTable extends Part {
  /** Only those of this agent; "": of all, with a column for the agent. */
  @property() agentId = "";
  /** Filters of GET /executions. */
  @property({ attribute: false }) filters: Query = {};
  /** The order; "": newest first. Undefined: the list cannot be sorted. */
  @property({ attribute: false }) sort: string | undefined;
  /** The columns to show, separated by commas; "": all. */
  @property() columns = "";
  /** Whether queued jobs are shown. */
  @property({ attribute: false }) queued = true;
  /** Whether suspended jobs are shown. */
  @property({ attribute: false }) suspended = true;
  /** Which of both are listed at once. */
  @property({ attribute: false }) open: ("queued" | "suspended")[] = [];
  @property({ attribute: false }) executions = true;

  private readonly concerns: Concerns = ({ type, agent_id }) =>
    type.startsWith("execution.") && (!this.agentId || agent_id === this.agentId);
  private readonly runs = new PagedLoad<Execution>(
    this,
    () => "/executions",
    () => ({ ...this.query(), sort: this.sort, include: "submission" }),
    this.concerns,
    () => this.executions,
  );
  private readonly total = new Load<Count>(
    this,
    (signal) => get<Count>("/executions/count", this.query(), signal),
    this.concerns,
    () => this.executions,
  );

  private readonly selection = new Selection<Execution>(this, this.runs);

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get("filters");
    const shown = changed.get("executions") === false;
    if (changed.get("agentId") !== undefined || (before && !same(before, this.filters)) || shown) {
      void this.runs.again(true);
      void this.total.again(true);
    } else if (changed.get("sort") !== undefined) {
      void this.runs.again();
    }
  }

  override render() {
    const total = this.total.value;
    const rows = this.runs.value?.data ?? [];
    return html`${this.queued ? this.waiting("queued") : nothing}
    ${this.suspended ? this.waiting("suspended") : nothing}
    ${this.executions
      ? html`<section class="panel" aria-labelledby="executions-title">
            <header>
              <h2 id="executions-title">
                ${text.table.title}
                ${total ? html`<span class="faint number">${bounded(total)}</span>` : nothing}
              </h2>
            </header>
            ${pagedTable(
              text.table.label,
              shownColumns(executionColumns(rows, !this.agentId, this.selection), this.columns),
              this.runs,
              () => this.none(),
              total,
              this.sort,
            )}
          </section>
          ${this.selection.bar(executionActions())}`
      : nothing}`;
  }

  private waiting(state: "queued" | "suspended"): TemplateResult {
    return html`<queued-runs
      .of=${state}
      .agentId=${this.agentId}
      .agent=${String(this.filters.agent ?? "")}
      .tag=${String(this.filters.tag ?? "")}
      .open=${this.open.includes(state)}
    ></queued-runs>`;
  }

  private query(): Query {
    return { agent_id: this.agentId, ...this.filters };
  }

  private none(): TemplateResult {
    return Object.values(this.filters).some(Boolean)
      ? emptyState(text.table.noMatches, text.table.changeFilters)
      : emptyState(
          text.table.none,
          text.table.eachRun,
          this.agentId ? nothing : html`<a class="button" href="/agents">${text.table.chooseAgent}</a>`,
        );
  }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

declare global {
  interface HTMLElementTagNameMap {
    "execution-table": ExecutionTable;
  }
}
