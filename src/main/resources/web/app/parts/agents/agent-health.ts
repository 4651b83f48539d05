import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get } from "../../core/api";
import { Load, typed } from "../../core/load";
import type { Execution, Page } from "../../core/types";
import { stateBadge } from "../page/basics";
import { Part } from "../page/part";
import { health } from "./health";

/** How many of the latest executions are looked at. */
const LATEST = 20;

/** States of executions that say something about the agent: not those that a person cancelled. */
const TELLING = "succeeded,failed,timed_out,lost";

/** How an agent's latest executions ended. */
@customElement("agent-health")
export class AgentHealth extends Part {
  @property() agentId = "";
  private readonly load = new Load<Execution[]>(
    this,
    async (signal) => {
      const query = { agent_id: this.agentId, state: TELLING, limit: LATEST };
      return (await get<Page<Execution>>("/executions", query, signal)).data;
    },
    (change) => change.agent_id === this.agentId && typed("execution")(change),
  );

  override updated(changed: Map<string, unknown>): void {
    if (changed.get("agentId")) {
      void this.load.again(true);
    }
  }

  override render() {
    if (!this.load.value) {
      return nothing;
    }
    const { state, words } = health(this.load.value);
    return html`<a href="/agents/${this.agentId}/performance">${stateBadge(state, words)}</a>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-health": AgentHealth;
  }
}
