import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import type { BuilderJob } from "../core/types";
import { emptyState } from "../parts/notices";
import { Part } from "../parts/part";
import { pagedTable } from "../parts/tables";
import { BUILD_COLUMNS } from "./builds";

const COLUMNS = BUILD_COLUMNS.filter(({ title }) => title !== "Agent");

/** All builds of an agent's requirements. */
@customElement("agent-builds")
export class AgentBuilds extends Part {
  @property() agentId = "";
  private readonly load = new PagedLoad<BuilderJob>(
    this,
    () => "/builder-jobs",
    () => ({ agent_id: this.agentId }),
    (change) => change.agent_id === this.agentId && typed("builder_job")(change),
  );

  override render() {
    return html`<div class="panel">
      ${pagedTable("Builds", COLUMNS, this.load, () =>
        emptyState(
          "Nothing built",
          "Whenever the requirements or the Python version change, they are installed anew.",
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
