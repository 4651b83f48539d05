import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get } from "../../core/api";
import { Load, typed } from "../../core/load";
import type { Execution, Page } from "../../core/types";
import { text } from "../../text/parts/executions";
import { stateBadge, timeAgo } from "../page/basics";
import { draftMark } from "./draft-runs";
import { runDuration } from "./execution-result";
import { Part } from "../page/part";

const FEW = 6;

/** The latest executions of an agent, in few words. */
@customElement("recent-executions")
export class RecentExecutions extends Part {
  @property() agentId = "";
  /** The one that is shown beside. */
  @property() shown = "";
  private readonly load = new Load<Execution[]>(
    this,
    async (signal) =>
      (await get<Page<Execution>>("/executions", { agent_id: this.agentId, limit: FEW }, signal)).data,
    (change) => change.agent_id === this.agentId && typed("execution")(change),
  );

  override updated(changed: Map<string, unknown>): void {
    if (changed.has("agentId") && changed.get("agentId") !== undefined) {
      void this.load.again(true);
    }
  }

  override render() {
    const executions = this.load.value ?? [];
    return executions.length
      ? html`<section class="recent" aria-labelledby="recent-title">
          <h3 id="recent-title">${text.panel.recent}</h3>
          <ul>
            ${executions.map(
              (execution) =>
                html`<li>
                  <a
                    href="/executions/${execution.id}"
                    aria-current=${execution.id === this.shown ? "true" : nothing}
                  >
                    ${stateBadge(execution.state)} ${draftMark(execution)}
                    <span class="grow faint">${timeAgo(execution.started_at)}</span>
                    ${runDuration(execution)}
                  </a>
                </li>`,
            )}
          </ul>
        </section>`
      : nothing;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "recent-executions": RecentExecutions;
  }
}
