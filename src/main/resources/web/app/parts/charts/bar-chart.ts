import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { count } from "../../core/format";
import type { BarDrawing, Colours } from "./bar-drawing";
import { Part } from "../page/part";

export interface Bars {
  /** The labels below the bars. */
  labels: string[];
  /** The titles of the bars in tooltip and table. */
  titles: string[];
  /** From below; `colour` is the name of a token. */
  series: { name: string; colour: string; values: number[] }[];
}

/**
 * Stacked bars, with a legend and the figures as a table for whoever can't see or point. Fires
 * `choose` with the bar's index as its detail.
 */
@customElement("bar-chart")
export class BarChartPart extends Part {
  @property({ attribute: false }) bars: Bars = { labels: [], titles: [], series: [] };
  @property() label = "";
  /** Where a bar's figures lead; "" for nowhere. */
  @property({ attribute: false }) href: (bar: number) => string = () => "";
  @state() private pointed: number | null = null;
  private x = 0;
  private drawing: BarDrawing | null = null;
  private readonly watched = new ResizeObserver(() => this.drawing?.resize());
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private readonly themes = new MutationObserver(() => this.draw());
  private readonly redraw = () => this.draw();

  override connectedCallback(): void {
    super.connectedCallback();
    this.dark.addEventListener("change", this.redraw);
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    if (this.hasUpdated) {
      void this.begin();
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.dark.removeEventListener("change", this.redraw);
    this.themes.disconnect();
    this.watched.disconnect();
    this.drawing?.destroy();
    this.drawing = null;
  }

  protected override firstUpdated(): void {
    void this.begin();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("bars")) {
      this.draw();
    }
    const tip = this.querySelector<HTMLElement>(".tip");
    if (tip) {
      // Beside the bar, on the side with enough space.
      const right = this.x + 20;
      const fits = right + tip.offsetWidth <= this.clientWidth;
      tip.style.left = `${Math.max(4, fits ? right : this.x - tip.offsetWidth - 4)}px`;
    }
  }

  private async begin(): Promise<void> {
    const drawing = await import("./bar-drawing").catch(() => null);
    if (drawing === null) {
      return; // The table has the same numbers.
    }
    const { BarDrawing } = drawing;
    const canvas = this.querySelector<HTMLElement>(".canvas");
    if (!this.isConnected || !canvas || this.drawing) {
      return;
    }
    this.drawing = new BarDrawing(
      canvas,
      (bar, x) => {
        this.x = x;
        this.pointed = bar;
      },
      (bar) => this.dispatchEvent(new CustomEvent("choose", { detail: bar })),
    );
    this.watched.observe(canvas);
    this.draw();
  }

  private draw(): void {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.drawing?.draw(this.bars, this.colours(), still);
  }

  /** Tokens as this theme has them. */
  private colours(): Colours {
    const probe = document.createElement("span");
    this.append(probe);
    const names = ["--faint", "--line", ...this.bars.series.map(({ colour }) => colour)];
    const colours = Object.fromEntries(
      names.map((name) => {
        probe.style.color = `var(${name})`;
        return [name, getComputedStyle(probe).color];
      }),
    );
    probe.remove();
    return { ...colours, font: getComputedStyle(this).fontFamily };
  }

  override render() {
    return html`<div class="canvas" aria-hidden="true"></div>
      ${this.pointed === null ? nothing : this.tip(this.pointed)}
      <details>
        <summary>
          <span class="legend" aria-hidden="true">${this.legend()}</span
          ><span class="faint">View as table</span>
        </summary>
        ${this.table()}
      </details>`;
  }

  private legend(): TemplateResult[] {
    return this.bars.series
      .filter(({ values }) => values.some(Boolean))
      .map(({ name, colour }) => html`<span>${swatch(colour)}${name}</span>`);
  }

  private tip(bar: number): TemplateResult {
    const some = this.bars.series.filter(({ values }) => values[bar]).reverse();
    return html`<div class="tip" aria-hidden="true">
      <strong>${this.bars.titles[bar]}</strong>
      ${some.length
        ? some.map(
            ({ name, colour, values }) =>
              html`<span>${swatch(colour)}${name}<span class="number">${count(values[bar]!)}</span></span>`,
          )
        : html`<span class="faint">none</span>`}
    </div>`;
  }

  private rowTitle(bar: number): unknown {
    const href = this.href(bar);
    const title = this.bars.titles[bar];
    return href ? html`<a href=${href}>${title}</a>` : title;
  }

  private table(): TemplateResult {
    return html`<div class="table-wrap" role="region" aria-label=${this.label} tabindex="0">
      <table>
        <thead>
          <tr>
            <td></td>
            ${this.bars.series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${this.bars.labels.map(
            (_, bar) =>
              html`<tr>
                <th scope="row">${this.rowTitle(bar)}</th>
                ${this.bars.series.map(
                  ({ values }) => html`<td class="number">${count(values[bar] ?? 0)}</td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }
}

/** Set as a property, since styles in markup are forbidden. */
const swatch = (colour: string) => html`<span class="swatch" .style=${`background: var(${colour})`}></span>`;

declare global {
  interface HTMLElementTagNameMap {
    "bar-chart": BarChartPart;
  }
}
