import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { count } from "../core/format";
import { PagedLoad, typed } from "../core/load";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { Agent } from "../core/types";
import { stateBadge, timeAgo } from "../parts/page/basics";
import { agentActions } from "../parts/agents/bulk-agents";
import { deleteAgent } from "../parts/agents/delete-agent";
import { searchField } from "../parts/forms/fields";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import "../parts/agents/run-button";
import { isBehind } from "../parts/agents/running";
import { Selection } from "../parts/page/selection";
import { successRate } from "../parts/charts/success-rate";
import { pagedTable, type Column } from "../parts/page/tables";

/** Templates, by their name in /create. */
const TEMPLATES = [
  ["hello", "Hello", "returns a greeting for its payload"],
  ["fetch", "Fetch a page", "calls an HTTP API and returns its response"],
  ["counter", "Count in a store", "keeps data between runs"],
] as const;

/** All agents, with their status. */
@customElement("agents-page")
export class AgentsPage extends Part {
  private q = queried("q");
  private readonly load = new PagedLoad<Agent>(
    this,
    () => "/agents",
    () => ({ q: this.q, include: "activity" }),
    typed("agent", "builder_job", "executor_job", "execution", "schedule"),
  );
  private readonly selection = new Selection<Agent>(this, () => this.load.value?.data ?? []);
  private readonly columns: Column<Agent>[] = [
    {
      title: "Name",
      cell: (agent) =>
        html`${this.selection.box(agent, agent.name)}<a class="name" href="/agents/${agent.id}"
            >${agent.name}</a
          >`,
      kind: "rest",
    },
    ...COLUMNS,
  ];
  private endMoves: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.look(queried("q")));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    return html`<div class="page-head">
        <h1>Agents</h1>
        ${searchField("Search agents", this.q, (q) => router.query({ q }))}
        <div class="actions">
          ${signedIn.may("write") ? html`<a class="button primary" href="/create">Create agent</a>` : nothing}
        </div>
      </div>
      <div class="panel">
        ${pagedTable("Agents", this.columns, this.load, () => (this.q ? nothingFound(this.q) : firstAgent()))}
      </div>
      ${this.selection.bar(agentActions())}`;
  }

  private look(q: string): void {
    if (q !== this.q && location.pathname === "/agents") {
      this.q = q;
      void this.load.again();
    }
  }
}

const COLUMNS: Column<Agent>[] = [
  {
    title: "Python",
    cell: (agent) => html`<span class="mono">${agent.python_version}</span>`,
    kind: "wide",
  },
  { title: "Build", cell: buildState },
  { title: "Last execution", cell: lastExecution, kind: "plain" },
  { title: "Activity", cell: now, kind: "plain" },
  {
    title: "Last 7 days",
    cell: (agent) => (agent.activity ? successRate(agent.activity.executions_7d) : nothing),
    kind: "plain",
  },
  {
    title: "Next run",
    cell: ({ activity }) => (activity?.next_run_at ? timeAgo(activity.next_run_at) : nothing),
  },
  { title: "", cell: actions, kind: "actions" },
];

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

const nothingFound = (q: string): TemplateResult =>
  emptyState(
    "No matching agents",
    `No agent’s name has all words of “${q}”.`,
    html`<button @click=${() => router.query({ q: null })}>Show all agents</button>`,
  );

function firstAgent(): TemplateResult {
  return emptyState(
    "No agents yet",
    "An agent is a Python script with its requirements. Roost installs the requirements and runs the script on demand, on a schedule or through the API. Start with a template:",
    signedIn.may("write")
      ? html`<ul class="templates">
          ${TEMPLATES.map(
            ([name, title, what]) =>
              html`<li>
                <a class="panel" href="/create?template=${name}"
                  ><strong>${title}</strong><span class="faint">${what}</span></a
                >
              </li>`,
          )}
          <li>
            <a class="panel" href="/create"
              ><strong>Blank</strong><span class="faint">an empty script</span></a
            >
          </li>
        </ul>`
      : nothing,
  );
}
