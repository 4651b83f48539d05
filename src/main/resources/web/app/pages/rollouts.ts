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

/** Milliseconds between polls of rollouts in progress. */
export const LOOK = 2000;

const COLUMNS: Column<Rollout>[] = [
  {
    title: "State",
    cell: ({ id, state }) => html`<a class="state-link" href="/rollouts/${id}">${stateBadge(state)}</a>`,
  },
  {
    title: "Agents",
    cell: ({ agents }) =>
      html`<span class="rollout-progress">${rolloutBar(agents)}<span>${countsText(agents)}</span></span>`,
  },
  { title: "Trigger", cell: ({ automatic }) => html`<span>${automatic ? "automatic" : "manual"}</span>` },
  { title: "Created", cell: ({ created_at }) => timeAgo(created_at) },
  { title: "Finished", cell: ({ finished_at }) => timeAgo(finished_at) },
  { title: "Rollout", cell: ({ id }) => idLink(id, `/rollouts/${id}`) },
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
        <h1>Rollouts</h1>
        <div class="actions">
          ${signedIn.may("write")
            ? html`<button @click=${() => void startRollout()}>Rebuild outdated agents</button>`
            : nothing}
        </div>
      </div>
      <div class="filters" role="group" aria-label="Filters">
        ${stateChips(STATES.Rollout, states, (state) => router.query({ state }))}
      </div>
      <section class="panel tight" aria-label="Rollouts">
        ${pagedTable("All rollouts", COLUMNS, this.load, () =>
          states.length
            ? emptyState("No matching rollouts", "Change the filters. The list updates live.")
            : emptyState(
                "No rollouts yet",
                "A rollout rebuilds outdated agents, a few at a time, after a base image has a new digest, this machine has a newer interpreter, or an upgrade of Roost brings a newer SDK. Rollouts start automatically unless the setting roost.rollouts.automatic is off.",
              ),
        )}
      </section>`;
  }
}
