import { svg, type SVGTemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { duration } from "../../core/format";
import { BarChart } from "./bar-chart";
import { durationTicks } from "./ticks";

/** Durations over time, in seconds: for each series a line with a step at each interval, without one a gap. */
@customElement("line-chart")
export class LineChart extends BarChart {
  protected override text(value: number): string {
    return value === 0 ? "0" : duration(value);
  }

  protected override ticks(): number[] {
    return durationTicks(Math.max(...this.bars.series.flatMap(({ values }) => values.map((v) => v ?? 0)), 0));
  }

  protected override drawing(top: number): SVGTemplateResult[] {
    return this.bars.series.map(
      ({ colour, values }) =>
        svg`<path class="series" d=${steps(values, top)} .style=${`stroke: var(${colour})`}></path>`,
    );
  }
}

/** The line of a series, as the data of an SVG path. */
function steps(values: (number | null)[], top: number): string {
  return values
    .map((value, i) => {
      if (value === null) {
        return "";
      }
      const y = top - value;
      return `${i > 0 && values[i - 1] != null ? `V${y}` : `M${i} ${y}`}H${i + 1}`;
    })
    .join("");
}

declare global {
  interface HTMLElementTagNameMap {
    "line-chart": LineChart;
  }
}
