import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { signedIn } from "../core/session";
import type { BuilderJob } from "../core/types";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { rebuild } from "../parts/rollouts/rollouts";
import { pagedTable } from "../parts/page/tables";
import { BUILD_COLUMNS } from "./builds";

const COLUMNS = BUILD_COLUMNS.filter(({ title }) => title !== "Agent");

/** All builds of an agent's requirements. */
@customElement("agent-builds")
export class AgentBuilds extends Part {
  @property() agentId = "";
  @property() name = "";
  private readonly load = new PagedLoad<BuilderJob>(
    this,
    () => "/builder-jobs",
    () => ({ agent_id: this.agentId }),
    (change) => change.agent_id === this.agentId && typed("builder_job")(change),
  );

  override render() {
    return html`${signedIn.may("write")
        ? html`<div class="row">
            <button @click=${() => void rebuild({ id: this.agentId, name: this.name })}>Rebuild</button>
            <span class="faint small">Installs the same requirements again on the current base</span>
          </div>`
        : nothing}
      <div class="panel">
        ${pagedTable("Builds", COLUMNS, this.load, () =>
          emptyState(
            "No builds yet",
            "Roost builds the agent when its requirements or Python version change.",
          ),
        )}
      </div>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-builds": AgentBuilds;
  }
}
