import { html } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { asProblem } from "../../core/load";
import { text } from "../../text/parts/agents";
import { keptPayload, lastPayload, payloadText, submitPayload } from "../executions/payloads";
import { toast } from "../page/dialogs";
import { Part } from "../page/part";

/** Runs an agent with the payload of its last run, and reports the payload. */
export async function runWithLastPayload({ id, name }: { id: string; name: string }): Promise<void> {
  try {
    const payload = await lastPayload(id, Infinity);
    const job = await submitPayload(id, payload);
    toast(text.runButton.queued(name, payloadText(payload)), {
      link: [text.runButton.viewRun, `/executor-jobs/${job.id}`],
    });
  } catch (e) {
    toast(text.runButton.notRun(name, asProblem(e).message), { failed: true });
  }
}

/** Runs an agent with the payload of its last run, which the hint shows. */
@customElement("run-button")
export class RunButton extends Part {
  @property() agentId = "";
  @property() name = "";
  @state() private payload: string | null = null;

  override render() {
    const payload = this.payload ?? keptPayload(this.agentId);
    return html`<button
      class="quiet"
      title=${payload === null ? text.runButton.runWithLast : text.runButton.run(payloadText(payload))}
      @pointerenter=${this.find}
      @focus=${this.find}
      @click=${() => runWithLastPayload({ id: this.agentId, name: this.name })}
    >
      ${text.runButton.runNow(this.name)}
    </button>`;
  }

  private async find(): Promise<void> {
    this.payload = await lastPayload(this.agentId).catch(() => null);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "run-button": RunButton;
  }
}
