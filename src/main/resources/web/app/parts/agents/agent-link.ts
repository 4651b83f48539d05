import { html, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get } from "../../core/api";
import { shortId } from "../../core/format";
import { live } from "../../core/live";
import type { Agent, Page } from "../../core/types";
import { Part } from "../page/part";

const names = new Map<string, Promise<string>>();
let first: Promise<void> | undefined;

live.onChange((change) => {
  if (change.type === "agent.updated") {
    names.delete(change.subject);
  }
});

/** Reads the newest agents in one request, since most lists are about them; others one at a time. */
function readFirst(): Promise<void> {
  return get<Page<Agent>>("/agents", { limit: 200 }).then(
    ({ data }) => data.forEach(({ id, name }) => names.set(id, Promise.resolve(name))),
    () => undefined,
  );
}

/** The name of an agent; its short ID if it was deleted. */
export async function nameOf(id: string): Promise<string> {
  await (first ??= readFirst());
  const known = names.get(id);
  if (known) {
    return known;
  }
  const requested = get<Agent>(`/agents/${id}`).then(
    (agent) => agent.name,
    () => shortId(id),
  );
  names.set(id, requested);
  return requested;
}

/** A link to an agent with its name, from its ID. */
@customElement("agent-link")
export class AgentLink extends Part {
  @property() agentId = "";
  @state() private name = "";

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("agentId")) {
      const id = this.agentId;
      void nameOf(id).then((name) => {
        if (id === this.agentId) {
          this.name = name;
        }
      });
    }
  }

  override render() {
    return html`<a href="/agents/${this.agentId}" title=${this.agentId}
      >${this.name || shortId(this.agentId)}</a
    >`;
  }
}

export const agentLink = (id: string): TemplateResult => html`<agent-link .agentId=${id}></agent-link>`;

declare global {
  interface HTMLElementTagNameMap {
    "agent-link": AgentLink;
  }
}
