import { html, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { Problem } from "../../core/api";
import { plural } from "../../core/format";
import { asProblem } from "../../core/load";
import type { DiffGap, DiffLine } from "./diff-lines";
import { toast } from "../page/dialogs";
import { Part } from "../page/part";

/** The differences between two texts by line; unchanged lines can be unfolded. */
@customElement("code-diff")
export class CodeDiff extends Part {
  @property() from = "";
  @property() to = "";
  /** What is compared, for example "Script". */
  @property() label = "Text";
  @state() private rows: (DiffLine | DiffGap)[] | null = null;

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("from") || changed.has("to")) {
      void this.compare(this.from, this.to);
    }
  }

  override render() {
    if (!this.rows) {
      return html`<p class="faint" aria-busy="true">Comparing…</p>`;
    }
    return html`<div class="diff" role="region" aria-label="Changes: ${this.label}" tabindex="0">
      <table>
        <thead class="unseen">
          <tr>
            <th scope="col">Before</th>
            <th scope="col">After</th>
            <th scope="col">Change</th>
            <th scope="col">Line</th>
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
        <button class="quiet" @click=${unfold}>${plural(gap.lines.length, "unchanged line")}</button>
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

function lineRow({ before, after, text }: DiffLine): TemplateResult {
  const numbers = html`<td class="at">${before}</td>
    <td class="at">${after}</td>`;
  // The text is set as a property, so that no white space of the template comes with it.
  if (before === null) {
    return html`<tr class="added">
      ${numbers}
      <td class="sign">+</td>
      <td class="line"><ins .textContent=${text}></ins></td>
    </tr>`;
  }
  if (after === null) {
    return html`<tr class="removed">
      ${numbers}
      <td class="sign">−</td>
      <td class="line"><del .textContent=${text}></del></td>
    </tr>`;
  }
  return html`<tr>
    ${numbers}
    <td class="sign"></td>
    <td class="line"><span .textContent=${text}></span></td>
  </tr>`;
}

declare global {
  interface HTMLElementTagNameMap {
    "code-diff": CodeDiff;
  }
}
