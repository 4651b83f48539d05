import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { between, duration } from "../core/format";
import { PagedLoad, typed } from "../core/load";
import { queried, router } from "../core/router";
import { STATES } from "../core/states";
import type { BuilderJob } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/builds";
import "../parts/agents/agent-link";
import { stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { stateChips } from "../parts/page/state-chips";
import { buildReason, reasonCell } from "../parts/executions/reasons";
import { pagedTable, type Column } from "../parts/page/tables";
import "../parts/page/ticking";

/** The duration of a build; counts while it runs; nothing if it was reused. */
export function buildDuration({ started_at, finished_at }: BuilderJob): unknown {
  if (started_at === null) {
    return nothing;
  }
  return finished_at === null
    ? html`<ticking-duration .from=${started_at}></ticking-duration>`
    : html`<span class="number">${duration(between(started_at, finished_at))}</span>`;
}

export const BUILD_COLUMNS: Column<BuilderJob>[] = [
  {
    title: common.state,
    cell: (job) => html`<a class="state-link" href="/builds/${job.id}">${stateBadge(job.state)}</a>`,
  },
  {
    title: common.agent,
    cell: (job) => html`<agent-link .agentId=${job.agent_id}></agent-link>`,
  },
  {
    title: text.revision,
    cell: (job) => html`<span class="number">${job.agent_revision}</span>`,
    number: true,
  },
  { title: text.python, cell: (job) => html`<span class="mono">${job.python_version}</span>` },
  {
    title: text.created,
    cell: ({ id, created_at }) => html`<a class="quiet-link" href="/builds/${id}">${timeAgo(created_at)}</a>`,
  },
  {
    title: text.duration,
    cell: (job) =>
      job.reused
        ? html`<span class="faint" title=${text.reusedTitle}>${text.reused}</span>`
        : buildDuration(job),
    number: true,
  },
  {
    title: text.reason,
    cell: ({ reason, message }) => (reason ? reasonCell(buildReason(reason), reason, message) : nothing),
  },
];

/** All builds, of all agents. */
@customElement("builds-page")
export class BuildsPage extends Part {
  private filtered = location.search;
  private endMoves: (() => void) | null = null;
  private readonly jobs = new PagedLoad<BuilderJob>(
    this,
    () => "/builder-jobs",
    () => ({ state: queried("state"), agent_id: queried("agent_id") }),
    typed("builder_job"),
  );

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => {
      if (this.filtered !== location.search) {
        this.filtered = location.search;
        void this.jobs.again(true);
      }
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    const states = queried("state").split(",").filter(Boolean);
    const agentId = queried("agent_id");
    return html`<div class="page-head"><h1>${text.title}</h1></div>
      <div class="filters" role="group" aria-label=${text.filters}>
        ${stateChips(STATES.BuilderJob, states, (state) => router.query({ state }))}
        ${agentId
          ? html`<span class="row"
              ><span class="faint">${text.filteredAgent}</span><agent-link .agentId=${agentId}></agent-link
              ><button class="quiet" @click=${() => router.query({ agent_id: null })}>
                ${text.allAgents}
              </button></span
            >`
          : nothing}
      </div>
      <section class="panel tight" aria-label=${text.title}>
        ${pagedTable(text.allBuilds, BUILD_COLUMNS, this.jobs, () =>
          states.length || agentId
            ? emptyState(text.noMatches, text.changeFilters)
            : emptyState(
                text.noBuilds,
                text.whenBuilt,
                html`<a class="button" href="/create">${text.createAgent}</a>`,
              ),
        )}
      </section>`;
  }
}
