import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { count } from "../../core/format";
import { text } from "../../text/parts/charts";
import { Part } from "../page/part";
import { ticks } from "./ticks";

export interface Bars {
  /** The labels below the bars. */
  labels: string[];
  /** The titles of the bars in tooltip and table. */
  titles: string[];
  /** From below; `colour` is the name of a token. */
  series: { name: string; colour: string; values: (number | null)[] }[];
}

/** A moment to point out: how many bars are before it, with a fraction. */
export interface Mark {
  place: number;
  title: string;
}

/** Of the distance between two bars, what a bar takes. */
const WIDTH = 0.8;

/**
 * Stacked bars, with a legend and the figures as a table for whoever can't see or point. The drawing has a
 * unit for each bar and each counted thing, and is stretched to the space that there is.
 */
@customElement("bar-chart")
export class BarChart extends Part {
  @property({ attribute: false }) bars: Bars = { labels: [], titles: [], series: [] };
  @property({ attribute: false }) marks: Mark[] = [];
  @property() label = "";
  /** Where a bar's figures lead. */
  @property({ attribute: false }) href: (bar: number) => string = () => "";
  @state() private pointed: number | null = null;

  override render() {
    const lines = this.ticks();
    const top = lines.at(-1)!;
    return html`<div class="plot" aria-hidden="true" @pointerleave=${() => (this.pointed = null)}>
        <div class="ticks">
          ${lines.map(
            (value) =>
              html`<span class="number" .style=${`bottom: ${(100 * value) / top}%`}
                >${this.text(value)}</span
              >`,
          )}
        </div>
        <div class="area">
          <svg viewBox="0 0 ${this.bars.labels.length} ${top}" preserveAspectRatio="none">
            ${lines.map(
              (value) => svg`<path class="line" d="M0 ${top - value}h${this.bars.labels.length}"></path>`,
            )}
            ${this.drawing(top)}
          </svg>
          ${this.marks.map(
            ({ place, title }) =>
              html`<span class="mark" .style=${`left: ${(100 * place) / this.bars.labels.length}%`}
                >${title}</span
              >`,
          )}
          ${this.bars.labels.map((_, bar) => this.target(bar))}
          ${this.pointed === null ? nothing : this.tip(this.pointed)}
        </div>
        <div class="labels">${this.bars.labels.map((label) => html`<span>${label}</span>`)}</div>
      </div>
      <details>
        <summary>
          <span class="legend" aria-hidden="true">${this.legend()}</span
          ><span class="faint">${text.viewAsTable}</span>
        </summary>
        ${this.table()}
      </details>`;
  }

  /** A value for people. */
  protected text(value: number): string {
    return count(value);
  }

  /** The values of the grid lines, from 0. */
  protected ticks(): number[] {
    return ticks(Math.max(...this.bars.labels.map((_, bar) => this.total(bar)), 0));
  }

  protected drawing(top: number): SVGTemplateResult[] {
    return this.bars.labels.flatMap((_, bar) => this.stack(bar, top));
  }

  private total(bar: number): number {
    return this.bars.series.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0);
  }

  private stack(bar: number, top: number): SVGTemplateResult[] {
    let y = top;
    return this.bars.series.flatMap(({ colour, values }) => {
      const value = values[bar] ?? 0;
      y -= value;
      return value
        ? [
            svg`<rect x=${bar + (1 - WIDTH) / 2} y=${y} width=${WIDTH} height=${value}
              .style=${`fill: var(${colour})`}></rect>`,
          ]
        : [];
    });
  }

  /** What a pointer hits: the whole height, since bars may be low. The table has the links for the keyboard. */
  private target(bar: number): TemplateResult {
    return html`<a
      tabindex="-1"
      class=${bar === this.pointed ? "pointed" : ""}
      href=${this.href(bar) || nothing}
      @pointerenter=${() => (this.pointed = bar)}
    ></a>`;
  }

  private legend(): TemplateResult[] {
    return this.bars.series
      .filter(({ values }) => values.some(Boolean))
      .map(({ name, colour }) => html`<span>${swatch(colour)}${name}</span>`);
  }

  /** Beside the bar, on the side that has space. */
  private tip(bar: number): TemplateResult {
    const some = this.bars.series.filter(({ values }) => values[bar]).reverse();
    const middle = (100 * (bar + 0.5)) / this.bars.labels.length;
    const place = middle < 50 ? `left: calc(${middle}% + 16px)` : `right: calc(${100 - middle}% + 16px)`;
    return html`<div class="tip" .style=${place}>
      <strong>${this.bars.titles[bar]}</strong>
      ${some.length
        ? some.map(
            ({ name, colour, values }) =>
              html`<span
                >${swatch(colour)}${name}<span class="number">${this.text(values[bar]!)}</span></span
              >`,
          )
        : html`<span class="faint">${text.none}</span>`}
    </div>`;
  }

  private shown(value: number | null | undefined): string {
    return value == null ? "–" : this.text(value);
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
                  ({ values }) => html`<td class="number">${this.shown(values[bar])}</td>`,
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
    "bar-chart": BarChart;
  }
}
