import { html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { get } from "../core/api";
import { queried, router } from "../core/router";
import { STATES } from "../core/states";
import type { Agent, Page } from "../core/types";
import "../parts/executions/execution-table";
import { toast } from "../parts/page/dialogs";
import { Part } from "../parts/page/part";
import { stateChips } from "../parts/page/state-chips";
import { executionReason, executionReasons } from "../parts/executions/reasons";

/** Queued jobs have no execution yet, and are listed above the executions. */
const FILTERED = ["queued", ...STATES.Execution];

/** Time ranges by their length in hours. */
const RANGES = [
  ["", "Any time"],
  ["1", "Last hour"],
  ["24", "Last 24 hours"],
  ["168", "Last 7 days"],
] as const;

/** Executions and queued jobs, with filters in the address. */
@customElement("executions-page")
export class ExecutionsPage extends Part {
  @state() private suggested: Agent[] = [];
  @state() private agentText: string | null = null;
  private endMoves: (() => void) | null = null;
  private since = { hours: "", time: "" };

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.requestUpdate());
    void this.nameAgent();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    const states = queried("state").split(",").filter(Boolean);
    const runs = states.filter((name) => name !== "queued");
    return html`<div class="page-head"><h1>Executions</h1></div>
      ${this.filters(states)}
      <execution-table
        .agentId=${queried("agent_id")}
        .filters=${{
          state: runs.join(","),
          reason: queried("reason"),
          started_after: this.startedAfter(),
          started_before: queried("before"),
        }}
        .queued=${!states.length || states.includes("queued")}
        .executions=${!states.length || runs.length > 0}
      ></execution-table>`;
  }

  private filters(states: string[]) {
    return html`<div class="filters" role="group" aria-label="Filters">
      ${stateChips(FILTERED, states, (state) => this.filter({ state }))}
      <input
        type="search"
        list="agent-names"
        aria-label="Agent"
        placeholder="Agent"
        autocomplete="off"
        .value=${this.agentText ?? ""}
        @input=${this.typeAgent}
        @change=${this.chooseAgent}
      />
      <datalist id="agent-names">
        ${this.suggested.map((agent) => html`<option value=${agent.name}></option>`)}
      </datalist>
      <select aria-label="Reason" @change=${this.selected("reason")}>
        <option value="" .selected=${!queried("reason")}>Any reason</option>
        ${executionReasons.map(
          (reason) =>
            html`<option value=${reason} .selected=${queried("reason") === reason}>
              ${executionReason(reason).title}
            </option>`,
        )}
      </select>
      <select aria-label="Time" @change=${this.selected("hours")}>
        ${RANGES.map(
          ([hours, name]) =>
            html`<option value=${hours} .selected=${queried("hours") === hours}>${name}</option>`,
        )}
        ${queried("after") ? html`<option value="" .selected=${true}>${this.hourText()}</option>` : nothing}
      </select>
      ${location.search ? html`<button class="quiet" @click=${this.clear}>Clear</button>` : nothing}
    </div>`;
  }

  private filter(changes: Record<string, string | null>): void {
    router.query(changes);
  }

  private selected(name: string) {
    return (event: Event) =>
      this.filter({
        [name]: (event.target as HTMLSelectElement).value,
        ...(name === "hours" ? { after: null, before: null } : {}),
      });
  }

  private readonly clear = () => {
    this.agentText = null;
    this.filter({ state: null, agent_id: null, reason: null, hours: null, after: null, before: null });
  };

  /** An exact time, or a number of hours ago; constant while the choice is the same. */
  private startedAfter(): string {
    const hours = queried("hours");
    if (this.since.hours !== hours) {
      const time = hours ? new Date(Date.now() - Number(hours) * 3_600_000).toISOString() : "";
      this.since = { hours, time };
    }
    return queried("after") || this.since.time;
  }

  private hourText(): string {
    const text = (time: string) =>
      new Date(time).toLocaleString(undefined, {
        weekday: "short",
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
      });
    return queried("before")
      ? `${text(queried("after"))} – ${text(queried("before"))}`
      : `Since ${text(queried("after"))}`;
  }

  private async nameAgent(): Promise<void> {
    const id = queried("agent_id");
    if (id) {
      this.agentText = (await get<Agent>(`/agents/${id}`).catch(() => null))?.name ?? id;
    }
  }

  private readonly typeAgent = async (event: Event) => {
    const text = (event.target as HTMLInputElement).value;
    this.agentText = text;
    if (text === "") {
      this.filter({ agent_id: null });
    }
    const page = await get<Page<Agent>>("/agents", { q: text, limit: 20 }).catch(() => null);
    if (page && this.agentText === text) {
      this.suggested = page.data;
      this.takeExact(text);
    }
  };

  private readonly chooseAgent = async (event: Event) => {
    const text = (event.target as HTMLInputElement).value;
    if (text && !this.takeExact(text)) {
      const page = await get<Page<Agent>>("/agents", { name: text, limit: 1 }).catch(() => null);
      if (page?.data[0]) {
        this.filter({ agent_id: page.data[0].id });
      } else {
        toast(`No agent named ${text}.`, { failed: true });
      }
    }
  };

  private takeExact(text: string): boolean {
    const agent = this.suggested.find(({ name }) => name === text);
    if (agent) {
      this.filter({ agent_id: agent.id });
    }
    return agent !== undefined;
  }
}
