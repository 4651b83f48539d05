import { html, nothing } from "lit";
import { signedIn } from "../../core/session";
import type { Agent } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/agents";
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
      title: common.name,
      cell: (agent) =>
        html`${selection.box(agent, agent.name)}<a class="name" href="/agents/${agent.id}">${agent.name}</a
          >${tagChips(agent.tags)}`,
      kind: "rest",
    },
    {
      key: "python",
      title: text.columns.python,
      cell: (agent) => html`<span class="mono">${agent.python_version}</span>`,
      kind: "widest",
    },
    { key: "build", title: text.columns.build, cell: buildState },
    {
      key: "last_execution",
      sort: "-last_execution",
      title: text.columns.lastExecution,
      cell: lastExecution,
      kind: "plain",
    },
    { key: "activity", title: text.columns.activity, cell: now, kind: "plain" },
    {
      key: "week",
      sort: "-failures",
      title: text.columns.lastWeek,
      cell: (agent) => (agent.activity ? successRate(agent.activity.executions_7d) : nothing),
      kind: "plain",
    },
    {
      key: "next_run",
      title: text.columns.nextRun,
      cell: ({ activity }) => (activity?.next_run_at ? timeAgo(activity.next_run_at) : nothing),
    },
    {
      key: "created",
      sort: "-created",
      title: text.columns.created,
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
          ? html`<span class="faint">${text.columns.runningRevision(agent.running_revision!)}</span>`
          : nothing}
        ${agent.outdated
          ? html`<span class="outdated" title=${text.columns.outdatedTitle}>${text.columns.outdated}</span>`
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
    : html`<span class="faint">${text.columns.never}</span>`;
}

function now({ activity }: Agent): unknown {
  const { running, queued } = activity ?? { running: 0, queued: 0 };
  return running || queued
    ? html`<span class="one-line"
        >${running ? stateBadge("running", text.columns.running(running)) : nothing}
        ${queued ? stateBadge("queued", text.columns.queued(queued)) : nothing}</span
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
          ${text.columns.delete(agent.name)}
        </button>`
      : nothing}
  </span>`;
}
