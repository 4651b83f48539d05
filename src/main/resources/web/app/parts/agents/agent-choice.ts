import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, type FieldMistake } from "../../core/api";
import type { Agent, Page } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/agents";
import { mistakeList } from "../forms/fields";
import { Part } from "../page/part";

/**
 * Chooses an agent by name, with suggestions. Fires `change` when `agentId` changes; it is "" while no agent
 * has that name.
 */
@customElement("agent-choice")
export class AgentChoice extends Part {
  @property() agentId = "";
  @property() label = common.agent;
  @property() hint = "";
  @property({ type: Boolean }) required = false;
  @property({ attribute: false }) mistakes: FieldMistake[] = [];
  @state() private text = "";
  @state() private proposals: Agent[] = [];
  @state() private unknown = false;
  private search = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.propose("");
    if (this.agentId) {
      void get<Agent>(`/agents/${this.agentId}`).then(
        (agent) => (this.text = agent.name),
        () => (this.text = this.agentId),
      );
    }
  }

  override render() {
    const mistakes: FieldMistake[] = this.unknown
      ? [{ pointer: "/agent_id", code: "unknown", detail: text.choice.unknown(this.text) }]
      : this.mistakes;
    return html`<div class="field">
      <label for="agent-choice">${this.label}</label>
      <input
        id="agent-choice"
        list="agent-choices"
        autocomplete="off"
        spellcheck="false"
        placeholder=${this.required ? text.choice.placeholder : text.choice.allAgents}
        .value=${this.text}
        ?required=${this.required}
        aria-invalid=${mistakes.length ? "true" : nothing}
        aria-describedby="agent-choice-hint agent-choice-mistakes"
        @input=${this.typed}
        @change=${this.left}
      />
      <span class="hint" id="agent-choice-hint">${this.hint}</span>
      <datalist id="agent-choices">
        ${this.proposals.map((agent) => html`<option value=${agent.name}></option>`)}
      </datalist>
      ${mistakeList("agent-choice", mistakes)}
    </div>`;
  }

  private async typed(event: Event): Promise<void> {
    this.text = (event.target as HTMLInputElement).value;
    this.unknown = false;
    const found = await this.propose(this.text);
    if (found) {
      this.choose(this.proposals.find((agent) => agent.name === this.text)?.id ?? "");
    }
  }

  private async left(event: Event): Promise<void> {
    event.stopPropagation();
    if (this.text !== "" && this.agentId === "") {
      const name = this.text;
      const page = await get<Page<Agent>>("/agents", { name }).catch(() => ({ data: [] }));
      if (name === this.text) {
        this.choose(page.data[0]?.id ?? "");
        this.unknown = this.agentId === "";
      }
    }
  }

  /** False if a later search has replaced it. */
  private async propose(q: string): Promise<boolean> {
    const mine = ++this.search;
    const page = await get<Page<Agent>>("/agents", { q, limit: 20 }).catch(() => ({ data: [] }));
    if (mine !== this.search) {
      return false;
    }
    this.proposals = page.data;
    return true;
  }

  private choose(id: string): void {
    if (id !== this.agentId) {
      this.agentId = id;
      this.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-choice": AgentChoice;
  }
}
