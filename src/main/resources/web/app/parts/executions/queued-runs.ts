import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, post, type Query } from "../../core/api";
import { at } from "../../core/format";
import { asProblem, Load, PagedLoad, type Concerns } from "../../core/load";
import { signedIn } from "../../core/session";
import type { Count, ExecutorJob } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/executions";
import "../agents/agent-link";
import { stateBadge } from "../page/basics";
import { confirmAction, toast } from "../page/dialogs";
import { loaded } from "../page/notices";
import { Part } from "../page/part";
import { pagedTable, type Column } from "../page/tables";
import "../page/ticking";
import { WAITING } from "./reasons";

/** A queue up to this length is listed at once. */
const FEW = 3;

const COLUMNS: (Column<ExecutorJob> & { agent?: boolean })[] = [
  {
    title: common.state,
    cell: (job) => html`<a class="state-link" href="/executor-jobs/${job.id}">${stateBadge(job.state)}</a>`,
  },
  {
    title: common.agent,
    cell: (job) => html`<agent-link .agentId=${job.agent_id}></agent-link>`,
    agent: true,
  },
  {
    title: text.queue.waiting,
    cell: (job) => html`<ticking-duration .from=${job.created_at}></ticking-duration>`,
    number: true,
  },
  {
    title: text.queue.attempts,
    cell: ({ attempts }) => (attempts ? html`<span class="number">${attempts}×</span>` : nothing),
    number: true,
  },
  {
    title: text.queue.waitingFor,
    cell: (job) =>
      html`<span class="faint"
        >${WAITING[job.waiting_on ?? ""] ?? ""}
        ${job.resume_at
          ? text.queue.until(html`<time datetime=${job.resume_at}>${at(job.resume_at)}</time>`)
          : nothing}</span
      >`,
  },
];

/** Queued or suspended jobs in one line: how many, and the age of the oldest. The list is shown on request. */
@customElement("queued-runs")
export class QueuedRuns extends Part {
  @property() of: "queued" | "suspended" = "queued";
  /** Only those of this agent; "": of all, with a column for the agent. */
  @property() agentId = "";
  /** Words of the agents' names. */
  @property() agent = "";
  /** Tags of the agents, separated by commas. */
  @property() tag = "";
  /** Lists the jobs at once. */
  @property({ type: Boolean }) open = false;
  @state() private listed = false;
  @state() private cancelling = false;

  private readonly concerns: Concerns = ({ type, agent_id }) =>
    type.startsWith("executor_job.") && (!this.agentId || agent_id === this.agentId);
  private readonly count = new Load<Count>(
    this,
    (signal) => get<Count>("/executor-jobs/count", this.query(), signal),
    this.concerns,
  );
  private readonly jobs = new PagedLoad<ExecutorJob>(
    this,
    () => "/executor-jobs",
    () => this.query(),
    this.concerns,
    () => this.isListed,
  );

  override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("open")) {
      this.listed = this.open;
    }
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if ((changed.get("agentId") ?? changed.get("agent") ?? changed.get("tag")) !== undefined) {
      void this.count.again(true);
      void this.jobs.again(true);
    } else if (this.isListed && !this.jobs.value && !this.jobs.loading && !this.jobs.problem) {
      void this.jobs.again();
    }
  }

  override render() {
    const queue = this.count.value;
    return !queue || queue.count === 0
      ? nothing
      : html`<section class="panel queued-runs" aria-labelledby="${this.of}-title">
          <header>
            <h2 id="${this.of}-title">
              ${stateBadge(this.of, text.queue.title(queue, this.of))}
              <span class="faint"
                >${text.queue.oldest[this.of](
                  html`<ticking-duration .from=${queue.oldest_created_at!}></ticking-duration>`,
                )}</span
              >
            </h2>
            ${queue.count > FEW
              ? html`<button
                  class="quiet"
                  aria-expanded=${this.listed}
                  @click=${() => (this.listed = !this.listed)}
                >
                  ${this.listed ? text.queue.hide[this.of] : text.queue.show[this.of]}
                </button>`
              : nothing}
            ${this.of === "queued" && signedIn.may("execute") && !this.agent && !this.tag
              ? html`<button class="quiet" ?disabled=${this.cancelling} @click=${() => this.cancelAll(queue)}>
                  ${this.cancelling ? text.queue.cancelling : text.queue.cancelAll}
                </button>`
              : nothing}
          </header>
          ${this.isListed ? this.list() : nothing}
        </section>`;
  }

  private get isListed(): boolean {
    const queue = this.count.value;
    return queue !== undefined && queue.count > 0 && (this.listed || queue.count <= FEW);
  }

  private list(): unknown {
    const columns = COLUMNS.filter((column) => !column.agent || !this.agentId);
    return this.jobs.value
      ? pagedTable(text.queue.label[this.of], columns, this.jobs, () => nothing)
      : loaded(this.jobs, () => nothing);
  }

  private query(): Query {
    return { state: this.of, agent_id: this.agentId, agent: this.agent, tag: this.tag };
  }

  private async cancelAll(queue: Count): Promise<void> {
    const sure = await confirmAction({
      title: text.queue.cancelRuns(queue),
      body: this.agentId ? text.queue.cancelsOfAgent : text.queue.cancelsOfAll,
      confirm: text.queue.confirmCancel,
      cancel: text.queue.keepQueued,
      danger: true,
    });
    if (!sure) {
      return;
    }
    this.cancelling = true;
    try {
      const of = this.agentId ? { agent_id: this.agentId } : { all: true };
      const { cancelled } = await post<{ cancelled: number }>("/executor-jobs/cancel", {
        ...of,
        running: false,
      });
      toast(text.queue.cancelled(cancelled));
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
    this.cancelling = false;
    await this.count.again();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "queued-runs": QueuedRuns;
  }
}
