import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { count } from "../core/format";
import { PagedLoad, typed } from "../core/load";
import { Polling } from "../core/polling";
import { queried, router } from "../core/router";
import { STATES } from "../core/states";
import type { Issue } from "../core/types";
import { agentLink } from "../parts/agents/agent-link";
import { executionReason, executionReasons } from "../parts/executions/reasons";
import { culpritText, issueState, LOOK } from "../parts/issues/issues";
import { timeAgo } from "../parts/page/basics";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { stateChips } from "../parts/page/state-chips";
import { pagedTable, type Column } from "../parts/page/tables";
import { common } from "../text/common";
import { text } from "../text/pages/issues";

const since = (issue: Issue): TemplateResult => {
  const { title } = executionReason(issue.reason);
  return issue.culprit
    ? text.sinceAt(title, culpritText(issue), issue.first_revision)
    : text.since(title, issue.first_revision);
};

const COLUMNS: Column<Issue>[] = [
  {
    title: text.issue,
    cell: (issue) =>
      html`<span class="row-title"
        ><a class="cut" href="/issues/${issue.id}" title=${issue.title}><strong>${issue.title}</strong></a
        ><span class="faint small cut">${since(issue)}</span></span
      >`,
  },
  { title: common.state, cell: issueState },
  { title: common.agent, cell: ({ agent_id }) => agentLink(agent_id) },
  {
    title: text.failures,
    number: true,
    cell: (issue) => html`<span class="number">${count(issue.count)}</span>`,
  },
  { title: text.firstSeen, cell: ({ first_seen_at }) => timeAgo(first_seen_at) },
  { title: text.lastSeen, cell: ({ last_seen_at }) => timeAgo(last_seen_at) },
];

/** In the address: no filter of the state. Without one, open issues are shown. */
const ALL = "all";

/** Failures by cause, with filters in the address. */
@customElement("issues-page")
export class IssuesPage extends Part {
  private filtered = location.search;
  private endMoves: (() => void) | null = null;
  private readonly load = new PagedLoad<Issue>(
    this,
    () => "/issues",
    () => ({ state: this.states.join(","), reason: queried("reason"), agent_id: queried("agent_id") }),
    typed("issue"),
  );

  constructor() {
    super();
    new Polling(this, this.load, () => true, LOOK);
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

  private get states(): string[] {
    const given = queried("state");
    return given === ALL ? [] : given ? given.split(",") : ["open"];
  }

  override render() {
    return html`<div class="page-head"><h1>${text.title}</h1></div>
      <div class="filters" role="group" aria-label=${text.filters}>
        ${stateChips(STATES.Issue, this.states, (state) => router.query({ state: state || ALL }))}
        <select
          aria-label=${text.reason}
          @change=${(event: Event) => router.query({ reason: (event.target as HTMLSelectElement).value })}
        >
          <option value="" .selected=${!queried("reason")}>${text.anyReason}</option>
          ${executionReasons.map(
            (reason) =>
              html`<option value=${reason} .selected=${queried("reason") === reason}>
                ${executionReason(reason).title}
              </option>`,
          )}
        </select>
        ${location.search
          ? html`<button
              class="quiet"
              @click=${() => router.query({ state: null, reason: null, agent_id: null })}
            >
              ${text.clear}
            </button>`
          : nothing}
      </div>
      <section class="panel tight" aria-label=${text.title}>
        ${pagedTable(text.all, COLUMNS, this.load, () =>
          location.search
            ? emptyState(text.noMatches, text.changeFilters)
            : emptyState(text.noneOpen, text.sameCause),
        )}
      </section>`;
  }
}
