import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import { stateChoices, STATES } from "../core/states";
import { roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { editSchedule } from "../parts/schedules/schedule-form";
import "../parts/schedules/schedule-list";
import { common } from "../text/common";
import { text } from "../text/pages/schedules";

/** The schedules of all agents. */
@customElement("schedules-page")
export class SchedulesPage extends Part {
  private endMoves: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    const state = queried("state");
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        <select
          aria-label=${common.state}
          class="narrow"
          @change=${(event: Event) => router.query({ state: (event.target as HTMLSelectElement).value })}
        >
          ${stateChoices(STATES.Schedule).map(
            ([value, label]) => html`<option value=${value} ?selected=${value === state}>${label}</option>`,
          )}
        </select>
        <div class="actions">
          ${signedIn.may("write")
            ? html`<button class="primary" @click=${() => editSchedule({ agentId: "" })}>
                ${text.create}
              </button>`
            : nothing}
        </div>
      </div>
      ${roleNotice("write", text.changing)}
      <schedule-list .stateFilter=${state}></schedule-list>`;
  }
}
