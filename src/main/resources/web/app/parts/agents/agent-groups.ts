import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, type Query } from "../../core/api";
import { count } from "../../core/format";
import { Load, PagedLoad, typed } from "../../core/load";
import type { Agent, AgentTags } from "../../core/types";
import { text } from "../../text/parts/agents";
import { emptyState, loaded } from "../page/notices";
import { Part } from "../page/part";
import { Selection } from "../page/selection";
import { shownColumns } from "../page/list-tools";
import { pagedTable } from "../page/tables";
import { agentColumns } from "./agent-columns";
import { agentActions } from "./bulk-agents";
import { hueOf } from "./tags";

/** The agents by tag: a group for each tag, whose agents are read when it is opened. */
@customElement("agent-groups")
export class AgentGroups extends Part {
  @property({ attribute: false }) filters: Query = {};
  @property() sort = "";
  @property() columns = "";
  private readonly load = new Load<AgentTags>(
    this,
    (signal) => get<AgentTags>("/agents/tags", {}, signal),
    typed("agent"),
  );

  override render() {
    return loaded(this.load, ({ data, untagged, more }) => {
      const wanted = String(this.filters.tag ?? "")
        .split(",")
        .filter(Boolean);
      const shown = data.filter(({ tag }) =>
        wanted.every((each) => tag === each || tag.startsWith(each + "/")),
      );
      return shown.length || (untagged && !wanted.length)
        ? html`${shown.map(({ tag, agents }) => this.group(tag, agents))}
          ${untagged && !wanted.length ? this.group("", untagged) : nothing}
          ${more ? html`<p class="faint">${text.groups.firstTags}</p>` : nothing}`
        : emptyState(text.groups.none, text.groups.noTags);
    });
  }

  private group(tag: string, agents: number): unknown {
    return html`<agent-group
      .tag=${tag}
      .agents=${agents}
      .filters=${this.filters}
      .sort=${this.sort}
      .columns=${this.columns}
    ></agent-group>`;
  }
}

/** One group; collapsed at first. */
@customElement("agent-group")
export class AgentGroup extends Part {
  /** "": the agents without a tag. */
  @property() tag = "";
  @property({ attribute: false }) agents = 0;
  @property({ attribute: false }) filters: Query = {};
  @property() sort = "";
  @property() columns = "";
  @state() private open = false;
  private readonly load = new PagedLoad<Agent>(
    this,
    () => "/agents",
    () => ({
      ...this.filters,
      ...(this.tag ? { tag: this.tag } : { untagged: true }),
      sort: this.sort,
      include: "activity",
    }),
    typed("agent", "builder_job", "executor_job", "execution", "schedule"),
    () => this.open,
  );
  private readonly selection = new Selection<Agent>(this, this.load, () => this.open);
  private readonly all = agentColumns(this.selection);

  override updated(changed: Map<PropertyKey, unknown>): void {
    const other = ["filters", "sort"].some((name) => changed.get(name) !== undefined);
    if (this.open && (other || changed.get("open") === false)) {
      void this.load.again();
    }
  }

  override render() {
    const name = this.tag || text.groups.noTag;
    return html`<details
        class="panel group"
        ?open=${this.open}
        @toggle=${(event: Event) => (this.open = (event.target as HTMLDetailsElement).open)}
      >
        <summary>
          <span class=${this.tag ? `tag hue-${hueOf(this.tag)}` : "faint"}>${name}</span>
          <span class="faint number">${count(this.agents)}</span>
        </summary>
        ${this.open
          ? pagedTable(
              this.tag ? text.tags.agentsWith(this.tag) : text.groups.labelWithout,
              shownColumns(this.all, this.columns),
              this.load,
              () => html`<p class="content faint">${text.groups.noMatches}</p>`,
            )
          : nothing}
      </details>
      ${this.selection.bar(agentActions())}`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-groups": AgentGroups;
    "agent-group": AgentGroup;
  }
}
