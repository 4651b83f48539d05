import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { between, duration } from "../core/format";
import { PagedLoad, typed } from "../core/load";
import type { BuilderJob } from "../core/types";
import { idLink, stateBadge, timeAgo } from "../parts/basics";
import { emptyState } from "../parts/notices";
import { Part } from "../parts/part";
import { pagedTable, type Column } from "../parts/tables";

const BUILDS: Column<BuilderJob>[] = [
  { title: "State", cell: ({ state }) => stateBadge(state) },
  { title: "Build", cell: ({ id }) => idLink(id, `/builds/${id}`) },
  {
    title: "Why",
    cell: ({ message, reused }) => (reused ? "used again" : html`<span class="why">${message}</span>`),
  },
  { title: "Revision", number: true, cell: ({ agent_revision }) => agent_revision },
  { title: "Python", cell: ({ python_version }) => python_version },
  { title: "Began", cell: ({ started_at, created_at }) => timeAgo(started_at ?? created_at) },
  {
    title: "Duration",
    number: true,
    cell: ({ started_at, finished_at }) =>
      started_at && finished_at ? duration(between(started_at, finished_at)) : "",
  },
];

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
      ${pagedTable("Builds", BUILDS, this.load, () =>
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
