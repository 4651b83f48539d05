import { html, nothing } from "lit";
import { count } from "../../core/format";
import { signedIn } from "../../core/session";
import type { Agent } from "../../core/types";
import { successRate } from "../charts/success-rate";
import { stateBadge, timeAgo } from "../page/basics";
import type { Column } from "../page/tables";
import type { Selection } from "../page/selection";
import { deleteAgent } from "./delete-agent";
import "./run-button";
import { isBehind } from "./running";
import { tagChips } from "./tags";

/** The columns of a list of agents. */
export function agentColumns(selection: Selection<Agent>): Column<Agent>[] {
  return [
    {
      key: "name",
      sort: "name",
      title: "Name",
      cell: (agent) =>
        html`${selection.box(agent, agent.name)}<a class="name" href="/agents/${agent.id}">${agent.name}</a
          >${tagChips(agent.tags)}`,
      kind: "rest",
    },
    {
      key: "python",
      title: "Python",
      cell: (agent) => html`<span class="mono">${agent.python_version}</span>`,
      kind: "wide",
    },
    { key: "build", title: "Build", cell: buildState },
    {
      key: "last_execution",
      sort: "-last_execution",
      title: "Last execution",
      cell: lastExecution,
      kind: "plain",
    },
    { key: "activity", title: "Activity", cell: now, kind: "plain" },
    {
      key: "week",
      sort: "-failures",
      title: "Last 7 days",
      cell: (agent) => (agent.activity ? successRate(agent.activity.executions_7d) : nothing),
      kind: "plain",
    },
    {
      key: "next_run",
      title: "Next run",
      cell: ({ activity }) => (activity?.next_run_at ? timeAgo(activity.next_run_at) : nothing),
    },
    {
      key: "created",
      sort: "-created",
      title: "Created",
      cell: (agent) => timeAgo(agent.created_at),
      kind: "widest",
    },
    { title: "", cell: actions, kind: "actions" },
  ];
}

function buildState(agent: Agent): unknown {
  const job = agent.activity?.builder_job;
  return job
    ? html`<span class="one-line"
        ><a href="/builds/${job.id}">${stateBadge(job.state)}</a> ${isBehind(agent)
          ? html`<span class="faint">running revision ${agent.running_revision}</span>`
          : nothing}
        ${agent.outdated
          ? html`<span class="outdated" title="Built with an older base or SDK">outdated</span>`
          : nothing}</span
      >`
    : html`<span class="faint">–</span>`;
}

function lastExecution({ activity }: Agent): unknown {
  const last = activity?.last_execution;
  return last
    ? html`<span class="one-line">
        <a href="/executions/${last.id}">${stateBadge(last.state)}</a>
        <span class="faint">${timeAgo(last.finished_at ?? last.started_at)}</span>
      </span>`
    : html`<span class="faint">never</span>`;
}

function now({ activity }: Agent): unknown {
  const { running, queued } = activity ?? { running: 0, queued: 0 };
  return running || queued
    ? html`<span class="one-line"
        >${running ? stateBadge("running", `${count(running)} running`) : nothing}
        ${queued ? stateBadge("queued", `${count(queued)} queued`) : nothing}</span
      >`
    : nothing;
}

function actions(agent: Agent): unknown {
  return html`<span class="row-actions">
    ${signedIn.may("execute")
      ? html`<run-button .agentId=${agent.id} .name=${agent.name}></run-button>`
      : nothing}
    ${signedIn.may("write")
      ? html`<button class="quiet" @click=${() => deleteAgent(agent.id)}>
          Delete<span class="unseen"> ${agent.name}</span>
        </button>`
      : nothing}
  </span>`;
}
