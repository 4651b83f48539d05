import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { Load } from "../../core/load";
import type { Agent } from "../../core/types";
import { text } from "../../text/parts/agents";
import "../page/basics";
import { Part } from "../page/part";
import { lastPayload } from "../executions/payloads";
import "./agent-url";
import { snippets, toolSnippet } from "./snippets";

/** Code that runs an agent from a program or a terminal. */
@customElement("call-it")
export class CallIt extends Part {
  @property({ attribute: false }) agent!: Agent;

  private readonly payload = new Load<string>(
    this,
    () => lastPayload(this.agent.id),
    (change) => change.agent_id === this.agent.id && change.type === "executor_job.queued",
  );

  override render() {
    return html`<div class="call-it">
      <div class="notice">
        <p>${text.callIt.intro}</p>
        <div class="row snippet">
          <pre class="grow"><code>${text.callIt.exportKey}</code></pre>
        </div>
      </div>
      ${this.snippets().map(
        ({ title, needs, code }) =>
          html`<section class="panel" aria-label=${title}>
            <header>
              <h2>${title}</h2>
              <copy-button
                .text=${code}
                .label=${text.callIt.copyTitle(title)}
                word=${text.callIt.copy}
              ></copy-button>
            </header>
            <div class="content column">
              <p class="faint small">${needs}</p>
              <pre tabindex="0" role="region" aria-label=${text.callIt.code(title)}><code>${code}</code></pre>
            </div>
          </section>`,
      )}
      <agent-url .agent=${this.agent}></agent-url>
    </div>`;
  }

  private snippets() {
    const { tool_name: tool } = this.agent;
    return [...this.calls(), ...(tool ? [toolSnippet(tool, location.origin)] : [])];
  }

  private calls() {
    const payload = this.payload.value ?? "";
    try {
      return snippets(this.agent.id, payload, location.origin);
    } catch {
      // The last input is not JSON.
      return snippets(this.agent.id, "", location.origin);
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "call-it": CallIt;
  }
}
