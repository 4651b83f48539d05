import { html, type TemplateResult } from "lit";
import { words } from "../../core/format";
import { text } from "../../text/parts/page";

/** A filter of states; `change` gets them separated by commas, "" for all. */
export const stateChips = (
  names: readonly string[],
  chosen: readonly string[],
  change: (state: string) => void,
): TemplateResult =>
  html`<div class="row" role="group" aria-label=${text.states}>
    ${names.map((name) => {
      const pressed = chosen.includes(name);
      const toggled = pressed ? chosen.filter((other) => other !== name) : [...chosen, name];
      return html`<button class="chip" aria-pressed=${pressed} @click=${() => change(toggled.join(","))}>
        ${words(name)}
      </button>`;
    })}
  </div>`;
