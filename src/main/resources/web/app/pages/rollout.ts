import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get } from "../core/api";
import { Load, PagedLoad, typed } from "../core/load";
import { Polling } from "../core/polling";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import { STATES } from "../core/states";
import type { Rollout, RolloutAgent } from "../core/types";
import "../parts/agents/agent-link";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState, loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { change, countsText, goesOn, rolloutBar, type Verb } from "../parts/rollouts/rollouts";
import { stateChips } from "../parts/page/state-chips";
import { pagedTable, type Column } from "../parts/page/tables";
import { common } from "../text/common";
import { text } from "../text/pages/rollout";
import { LOOK } from "./rollouts";

const VERBS: Record<Rollout["state"], Verb[]> = {
  running: ["pause", "undo"],
  paused: ["resume", "undo"],
  completed: ["undo"],
  undone: [],
};

const build = (id: string): TemplateResult => idLink(id, `/builds/${id}`);

const COLUMNS: Column<RolloutAgent>[] = [
  {
    title: common.agent,
    cell: (item) =>
      html`<a class="member" title=${item.agent_name} href="/agents/${item.agent_id}">${item.agent_name}</a>`,
  },
  { title: common.state, cell: (item) => stateBadge(item.state) },
  { title: text.previousBuild, cell: (item) => build(item.from_builder_job_id) },
  { title: text.newBuild, cell: ({ to_builder_job_id: to }) => (to ? build(to) : nothing) },
  { title: text.changed, cell: (item) => timeAgo(item.updated_at) },
  {
    title: text.message,
    cell: ({ message }) => (message ? html`<span class="why">${message}</span>` : nothing),
  },
];

/** One rollout: its progress, and the state of each agent. */
@customElement("rollout-page")
export class RolloutPage extends Part {
  @property() rolloutId = "";
  private filtered = location.search;
  private endMoves: (() => void) | null = null;
  private readonly load = new Load<Rollout>(
    this,
    (signal) => get<Rollout>(`/rollouts/${this.rolloutId}`, {}, signal),
    typed("builder_job"),
  );
  private readonly agents = new PagedLoad<RolloutAgent>(
    this,
    () => `/rollouts/${this.rolloutId}/agents`,
    () => ({ state: queried("state") }),
    () => false,
  );
  /** The counts at the last read of the agents. */
  private counted = "";

  constructor() {
    super();
    new Polling(this, this.load, () => !!this.load.value && goesOn(this.load.value), LOOK);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => {
      if (this.filtered !== location.search) {
        this.filtered = location.search;
        void this.agents.again(true);
      }
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("rolloutId")) {
      void this.load.again(true);
      void this.agents.again(true);
    }
    const counts = this.load.value ? countsText(this.load.value.agents) : "";
    if (counts !== this.counted) {
      this.counted = counts;
      void this.agents.again();
    }
  }

  override render() {
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        ${idLink(this.rolloutId)}
        <div class="actions">${this.load.value ? this.actions(this.load.value) : nothing}</div>
      </div>
      ${loaded(this.load, (rollout) => this.show(rollout))}`;
  }

  private actions(rollout: Rollout): unknown {
    return signedIn.may("write") && rollout.agents.total > 0
      ? VERBS[rollout.state].map(
          (verb) =>
            html`<button
              class=${verb === "undo" ? "danger" : ""}
              @click=${() => void this.move(rollout, verb)}
            >
              ${text.verbs[verb]}
            </button>`,
        )
      : nothing;
  }

  private async move(rollout: Rollout, verb: Verb): Promise<void> {
    await change(rollout, verb);
    void this.load.again();
  }

  private show(rollout: Rollout): TemplateResult {
    const states = queried("state").split(",").filter(Boolean);
    return html`<div class="row summary" role="status">
        <strong>${stateBadge(rollout.state)}</strong>
        <span>${countsText(rollout.agents)}</span>
        <span class="faint">${text.ofAgents(rollout.agents.total)}</span>
      </div>
      ${rolloutBar(rollout.agents)}
      <p class="row faint">
        <span>${rollout.automatic ? text.startedAutomatically : text.startedManually}</span>${timeAgo(
          rollout.created_at,
        )}
        ${rollout.finished_at ? html`<span>${text.finished}</span>${timeAgo(rollout.finished_at)}` : nothing}
      </p>
      ${rollout.message
        ? html`<div class="notice waiting" role="status">
            <strong>${text.pausedByRoost}</strong>
            <p>${rollout.message}</p>
          </div>`
        : nothing}
      ${roleNotice("write", text.changing)}
      <div class="filters" role="group" aria-label=${text.filters}>
        ${stateChips(STATES.RolloutAgent, states, (state) => router.query({ state }))}
      </div>
      <section class="panel tight" aria-label=${text.agents}>
        ${pagedTable(text.agentsOf, COLUMNS, this.agents, () =>
          states.length
            ? emptyState(text.noMatches, text.changeFilters)
            : emptyState(text.noAgents, text.noneOutdated),
        )}
      </section>`;
  }
}
