import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { signedIn } from "../core/session";
import type { Agent, BuilderJob } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/agent-builds";
import { preloadedPanel } from "../parts/agents/preloaded-panel";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { rebuild } from "../parts/rollouts/rollouts";
import { pagedTable } from "../parts/page/tables";
import { BUILD_COLUMNS } from "./builds";

const COLUMNS = BUILD_COLUMNS.filter(({ title }) => title !== common.agent);

/** All builds of an agent's requirements, and what executors import of them in advance. */
@customElement("agent-builds")
export class AgentBuilds extends Part {
  @property({ attribute: false }) agent!: Agent;
  private readonly load = new PagedLoad<BuilderJob>(
    this,
    () => "/builder-jobs",
    () => ({ agent_id: this.agent.id }),
    (change) => change.agent_id === this.agent.id && typed("builder_job")(change),
  );

  override render() {
    return html`${signedIn.may("write")
        ? html`<div class="row">
            <button @click=${() => void rebuild(this.agent)}>${text.rebuild}</button>
            <span class="faint small">${text.installsAgain}</span>
          </div>`
        : nothing}
      <div class="panel">
        ${pagedTable(text.builds, COLUMNS, this.load, () => emptyState(text.noBuilds, text.whenBuilt))}
      </div>
      ${preloadedPanel(this.agent)}`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-builds": AgentBuilds;
  }
}
