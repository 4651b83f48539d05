import { html } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { masked, maskedPair } from "../../core/variables";
import { text } from "../../text/parts/agents";
import "../code/code-diff";
import { Part } from "../page/part";
import { CODE_NAMES } from "./agent-edits";

/** A button that shows and hides the values of variables. */
export const showValues = (shown: boolean, toggle: () => void): unknown =>
  html`<button class="quiet" aria-pressed=${shown} @click=${toggle}>${text.code.showValues}</button>`;

/** The variables of two revisions, or of one, with their values masked until a person wants to see them. */
@customElement("variables-diff")
export class VariablesDiff extends Part {
  /** Null: nothing to compare with. */
  @property({ attribute: false }) from: string | null = null;
  @property() to = "";
  @state() private shown = false;

  override render() {
    return html`<div class="column">
      <div class="row">${showValues(this.shown, () => (this.shown = !this.shown))}</div>
      ${this.from === null ? this.text(this.to) : this.differences(this.from, this.to)}
    </div>`;
  }

  private text(variables: string): unknown {
    return html`<pre class="code" tabindex="0" role="region" aria-label=${CODE_NAMES.env_vars}>
${this.shown ? variables : masked(variables)}</pre
    >`;
  }

  private differences(from: string, to: string): unknown {
    const [before, after] = this.shown ? [from, to] : maskedPair(from, to);
    return html`<code-diff .from=${before} .to=${after} .label=${CODE_NAMES.env_vars}></code-diff>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "variables-diff": VariablesDiff;
  }
}
