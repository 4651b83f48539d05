import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { Problem, get } from "../core/api";
import { shortId } from "../core/format";
import { live } from "../core/live";
import type { Agent } from "../core/types";
import { Part } from "./part";

/** Names of agents that were asked for; null: it is deleted. */
const names = new Map<string, Promise<string | null>>();

live.onChange(({ type, subject }) => type.startsWith("agent.") && names.delete(subject));
live.onResync(() => names.clear());

/** The name of an agent, or null when it is deleted. Each is asked for once. */
export function agentName(id: string): Promise<string | null> {
  let name = names.get(id);
  if (!name) {
    name = get<Agent>(`/agents/${id}`).then(
      (agent) => agent.name,
      (e: unknown) => {
        if (e instanceof Problem && e.status === 404) {
          return null;
        }
        names.delete(id);
        return shortId(id);
      },
    );
    names.set(id, name);
  }
  return name;
}

/** A link to an agent, by its name. */
@customElement("agent-name")
export class AgentName extends Part {
  @property() agentId = "";
  @state() private name: string | null | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("agentId")) {
      const id = this.agentId;
      this.name = undefined;
      void agentName(id).then((name) => {
        if (id === this.agentId) {
          this.name = name;
        }
      });
    }
  }

  override render() {
    if (this.name === undefined) {
      return nothing;
    }
    return this.name === null
      ? html`<span class="faint" title=${this.agentId}>deleted agent</span>`
      : html`<a href="/agents/${this.agentId}">${this.name}</a>`;
  }
}

export const agentLink = (id: string) => html`<agent-name .agentId=${id}></agent-name>`;

declare global {
  interface HTMLElementTagNameMap {
    "agent-name": AgentName;
  }
}
