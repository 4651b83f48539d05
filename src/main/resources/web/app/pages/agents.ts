import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { Agent } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/agents";
import { agentColumns } from "../parts/agents/agent-columns";
import { agentQuery, parseAgents, withTag } from "../parts/agents/agent-filter";
import "../parts/agents/agent-groups";
import { agentActions } from "../parts/agents/bulk-agents";
import { hueOf } from "../parts/agents/tags";
import { searchField } from "../parts/forms/fields";
import { columnChoice, shownColumns, sortChoice } from "../parts/page/list-tools";
import { emptyState } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import "../parts/page/saved-views";
import { Selection } from "../parts/page/selection";
import { pagedTable } from "../parts/page/tables";

/** Templates, by their name in /create. */
const TEMPLATES = [
  ["hello", text.hello, text.helloDoes],
  ["fetch", text.fetch, text.fetchDoes],
  ["counter", text.counter, text.counterDoes],
] as const;

const ORDERS = [
  ["", text.orders.newest],
  ["created", text.orders.oldest],
  ["name", common.name],
  ["-name", text.orders.nameDescending],
  ["-last_execution", text.orders.lastExecution],
  ["last_execution", text.orders.lastExecutionOldest],
  ["-failures", text.orders.mostFailures],
  ["failures", text.orders.fewestFailures],
] as const;

/** Milliseconds without input before the search applies. */
const SETTLE = 120;

/** All agents, with their status; the address has the filter, the order, the columns and the grouping. */
@customElement("agents-page")
export class AgentsPage extends Part {
  private at = address();
  private readonly load = new PagedLoad<Agent>(
    this,
    () => "/agents",
    () => ({ ...agentQuery(this.at.q), sort: this.at.sort, include: "activity" }),
    typed("agent", "builder_job", "executor_job", "execution", "schedule"),
    () => !this.at.grouped,
  );
  private readonly selection = new Selection<Agent>(this, this.load);
  private readonly columns = agentColumns(this.selection);
  private endMoves: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.look());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
    clearTimeout(this.timer);
  }

  override render() {
    const { q, sort, columns, grouped } = this.at;
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        ${searchField(text.search, q, (written) => this.type(written))}
        <div class="actions">
          ${signedIn.may("write")
            ? html`<a class="button primary" href="/create">${text.create}</a>`
            : nothing}
        </div>
      </div>
      <div class="filters" role="group" aria-label=${text.list}>
        ${parseAgents(q).tags.map(
          (tag) =>
            html`<button
              class="tag hue-${hueOf(tag)}"
              aria-label=${text.removeTag(tag)}
              @click=${() => router.query({ q: withTag(q, tag, false) })}
            >
              ${tag} ×
            </button>`,
        )}
        <saved-views list="agents" .current=${{ filter: q, sort, columns, grouped }}></saved-views>
        ${sortChoice(ORDERS, sort)}
        <button
          class="chip"
          aria-pressed=${grouped}
          @click=${() => router.query({ group: grouped ? null : "tag" })}
        >
          ${text.groupByTag}
        </button>
        ${columnChoice(this.columns, columns)}
      </div>
      ${grouped
        ? html`<agent-groups .filters=${agentQuery(q)} .sort=${sort} .columns=${columns}></agent-groups>`
        : html`<div class="panel">
              ${pagedTable(
                text.title,
                shownColumns(this.columns, columns),
                this.load,
                () => (q ? nothingFound(q) : firstAgent()),
                undefined,
                sort,
              )}
            </div>
            ${this.selection.bar(agentActions())}`}`;
  }

  /** The address changes when typing pauses, so that each list is read once. */
  private type(q: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => router.query({ q }), SETTLE);
  }

  private look(): void {
    const next = address();
    if (location.pathname !== "/agents" || same(next, this.at)) {
      return;
    }
    const read = next.q !== this.at.q || next.sort !== this.at.sort || next.grouped !== this.at.grouped;
    this.at = next;
    if (read && !next.grouped) {
      void this.load.again();
    }
    this.requestUpdate();
  }
}

const address = () => ({
  q: queried("q"),
  sort: queried("sort"),
  columns: queried("columns"),
  grouped: queried("group") === "tag",
});

const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

const nothingFound = (q: string): TemplateResult =>
  emptyState(
    text.noMatches,
    text.noAgentHas(q),
    html`<button @click=${() => router.query({ q: null })}>${text.showAll}</button>`,
  );

function firstAgent(): TemplateResult {
  return emptyState(
    text.noAgents,
    text.whatAgentsAre,
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
            <a class="panel" href="/templates"
              ><strong>${text.moreTemplates}</strong><span class="faint">${text.moreTemplatesAre}</span></a
            >
          </li>
          <li>
            <a class="panel" href="/create"
              ><strong>${text.blank}</strong><span class="faint">${text.blankIs}</span></a
            >
          </li>
        </ul>`
      : nothing,
  );
}
