import { html, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { Problem } from "../../core/api";
import { asProblem } from "../../core/load";
import { text } from "../../text/parts/code";
import type { DiffGap, DiffLine } from "./diff-lines";
import { toast } from "../page/dialogs";
import { Part } from "../page/part";

/** The differences between two texts by line; unchanged lines can be unfolded. */
@customElement("code-diff")
export class CodeDiff extends Part {
  @property() from = "";
  @property() to = "";
  /** What is compared, for example "Script". */
  @property() label = text.diff.text;
  @state() private rows: (DiffLine | DiffGap)[] | null = null;

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("from") || changed.has("to")) {
      void this.compare(this.from, this.to);
    }
  }

  override render() {
    if (!this.rows) {
      return html`<p class="faint" aria-busy="true">${text.diff.comparing}</p>`;
    }
    return html`<div class="diff" role="region" aria-label=${text.diff.changes(this.label)} tabindex="0">
      <table>
        <thead class="unseen">
          <tr>
            <th scope="col">${text.diff.before}</th>
            <th scope="col">${text.diff.after}</th>
            <th scope="col">${text.diff.change}</th>
            <th scope="col">${text.diff.line}</th>
          </tr>
        </thead>
        <tbody>
          ${this.rows.map((row) => ("lines" in row ? this.gap(row) : lineRow(row)))}
        </tbody>
      </table>
    </div>`;
  }

  private gap(gap: DiffGap): TemplateResult {
    const unfold = () => (this.rows = this.rows!.flatMap((row) => (row === gap ? gap.lines : [row])));
    return html`<tr class="gap">
      <td colspan="4">
        <button class="quiet" @click=${unfold}>${text.diff.unchanged(gap.lines.length)}</button>
      </td>
    </tr>`;
  }

  private async compare(from: string, to: string): Promise<void> {
    const lines = await import("./diff-lines").catch((e: unknown) => asProblem(e));
    if (lines instanceof Problem) {
      return toast(lines.detail, { failed: true });
    }
    const { folded, linesOf } = lines;
    if (from === this.from && to === this.to) {
      this.rows = folded(linesOf(from, to));
    }
  }
}

function lineRow({ before, after, text: line }: DiffLine): TemplateResult {
  const numbers = html`<td class="at">${before}</td>
    <td class="at">${after}</td>`;
  // The text is set as a property, so that no white space of the template comes with it.
  if (before === null) {
    return html`<tr class="added">
      ${numbers}
      <td class="sign">+</td>
      <td class="line"><ins .textContent=${line}></ins></td>
    </tr>`;
  }
  if (after === null) {
    return html`<tr class="removed">
      ${numbers}
      <td class="sign">−</td>
      <td class="line"><del .textContent=${line}></del></td>
    </tr>`;
  }
  return html`<tr>
    ${numbers}
    <td class="sign"></td>
    <td class="line"><span .textContent=${line}></span></td>
  </tr>`;
}

declare global {
  interface HTMLElementTagNameMap {
    "code-diff": CodeDiff;
  }
}
