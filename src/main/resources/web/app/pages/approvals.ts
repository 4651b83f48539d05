import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { queried, router } from "../core/router";
import { STATES } from "../core/states";
import type { Approval } from "../core/types";
import { agentLink } from "../parts/agents/agent-link";
import { stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { stateChips } from "../parts/page/state-chips";
import { pagedTable, type Column } from "../parts/page/tables";
import { common } from "../text/common";
import { text } from "../text/pages/approvals";

const COLUMNS: Column<Approval>[] = [
  {
    title: text.approval,
    cell: ({ id, title }) =>
      html`<span class="row-title"
        ><a class="cut" href="/approvals/${id}" title=${title}><strong>${title}</strong></a></span
      >`,
  },
  { title: common.state, cell: ({ state }) => stateBadge(state) },
  { title: common.agent, cell: ({ agent_id }) => agentLink(agent_id) },
  { title: text.assignees, cell: ({ assignees }) => assignees.join(", ") },
  { title: text.asked, cell: ({ created_at }) => timeAgo(created_at) },
  { title: text.decidedBy, cell: ({ decided_by }) => decided_by },
];

/** In the address: no filter of the state. Without one, pending ones are shown. */
const ALL = "all";

/** What scripts ask people, with filters in the address. */
@customElement("approvals-page")
export class ApprovalsPage extends Part {
  private filtered = location.search;
  private endMoves: (() => void) | null = null;
  private readonly load = new PagedLoad<Approval>(
    this,
    () => "/approvals",
    () => ({
      state: this.states.join(","),
      assignee: queried("assignee"),
      agent_id: queried("agent_id"),
    }),
    typed("approval"),
  );

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => {
      if (this.filtered !== location.search) {
        this.filtered = location.search;
        void this.load.again(true);
      }
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  private get states(): string[] {
    const given = queried("state");
    return given === ALL ? [] : given ? given.split(",") : ["pending"];
  }

  override render() {
    return html`<div class="page-head"><h1>${text.title}</h1></div>
      <div class="filters" role="group" aria-label=${text.filters}>
        ${stateChips(STATES.Approval, this.states, (state) => router.query({ state: state || ALL }))}
        <input
          type="search"
          aria-label=${text.assignee}
          placeholder=${text.assignee}
          .value=${queried("assignee")}
          @change=${(event: Event) =>
            router.query({ assignee: (event.target as HTMLInputElement).value.trim() })}
        />
        ${location.search
          ? html`<button
              class="quiet"
              @click=${() => router.query({ state: null, assignee: null, agent_id: null })}
            >
              ${text.clear}
            </button>`
          : nothing}
      </div>
      <section class="panel tight" aria-label=${text.title}>
        ${pagedTable(text.all, COLUMNS, this.load, () =>
          location.search
            ? emptyState(text.noMatches, text.changeFilters)
            : emptyState(text.nonePending, text.whatAppears),
        )}
      </section>`;
  }
}
