import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { Polling } from "../core/polling";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import { STATES } from "../core/states";
import type { Rollout } from "../core/types";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { countsText, goesOn, rolloutBar, startRollout } from "../parts/rollouts/rollouts";
import { stateChips } from "../parts/page/state-chips";
import { pagedTable, type Column } from "../parts/page/tables";
import { common } from "../text/common";
import { text } from "../text/pages/rollouts";

/** Milliseconds between polls of rollouts in progress. */
export const LOOK = 2000;

const COLUMNS: Column<Rollout>[] = [
  {
    title: common.state,
    cell: ({ id, state }) => html`<a class="state-link" href="/rollouts/${id}">${stateBadge(state)}</a>`,
  },
  {
    title: text.agents,
    cell: ({ agents }) =>
      html`<span class="rollout-progress">${rolloutBar(agents)}<span>${countsText(agents)}</span></span>`,
  },
  {
    title: text.trigger,
    cell: ({ automatic }) => html`<span>${automatic ? text.automatic : text.manual}</span>`,
  },
  { title: text.created, cell: ({ created_at }) => timeAgo(created_at) },
  { title: text.finished, cell: ({ finished_at }) => timeAgo(finished_at) },
  { title: text.rollout, cell: ({ id }) => idLink(id, `/rollouts/${id}`) },
];

/** All rollouts of newer bases and SDKs. */
@customElement("rollouts-page")
export class RolloutsPage extends Part {
  private filtered = location.search;
  private endMoves: (() => void) | null = null;
  private readonly load = new PagedLoad<Rollout>(
    this,
    () => "/rollouts",
    () => ({ state: queried("state") }),
    typed("builder_job"),
  );

  constructor() {
    super();
    new Polling(this, this.load, () => !!this.load.value?.data.some(goesOn), LOOK);
  }

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

  override render() {
    const states = queried("state").split(",").filter(Boolean);
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        <div class="actions">
          ${signedIn.may("write")
            ? html`<button @click=${() => void startRollout()}>${text.start}</button>`
            : nothing}
        </div>
      </div>
      <div class="filters" role="group" aria-label=${text.filters}>
        ${stateChips(STATES.Rollout, states, (state) => router.query({ state }))}
      </div>
      <section class="panel tight" aria-label=${text.title}>
        ${pagedTable(text.all, COLUMNS, this.load, () =>
          states.length ? emptyState(text.noMatches, text.changeFilters) : emptyState(text.none, text.about),
        )}
      </section>`;
  }
}
