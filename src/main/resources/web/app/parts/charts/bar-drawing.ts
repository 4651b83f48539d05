import { BarChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, use, type EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import type { Bars } from "./bar-chart";

use([BarChart, GridComponent, CanvasRenderer]);

/** What the drawing needs of the page's tokens, as colours that a canvas takes. */
export type Colours = Record<string, string>;

/** Stacked bars on a canvas; words and figures about them are drawn by the page. */
export class BarDrawing {
  private readonly chart: EChartsType;
  private length = 0;

  /** @param onPoint called with the bar at the pointer, or null, and its position in pixels */
  constructor(
    element: HTMLElement,
    onPoint: (bar: number | null, x: number) => void,
    onChoose: (bar: number) => void,
  ) {
    this.chart = init(element);
    const at = (event: { offsetX: number; offsetY: number }): number | null => {
      const point = [event.offsetX, event.offsetY];
      if (!this.chart.containPixel("grid", point)) {
        return null;
      }
      const bar = Math.round(this.chart.convertFromPixel({ gridIndex: 0 }, point)[0]!);
      return bar >= 0 && bar < this.length ? bar : null;
    };
    const drawn = this.chart.getZr();
    drawn.on("mousemove", (event) => {
      const bar = at(event);
      onPoint(bar, bar === null ? 0 : this.chart.convertToPixel({ xAxisIndex: 0 }, bar));
    });
    drawn.on("globalout", () => onPoint(null, 0));
    drawn.on("click", (event) => {
      const bar = at(event);
      if (bar !== null) {
        onChoose(bar);
      }
    });
  }

  draw({ labels, series }: Bars, colours: Colours, still: boolean): void {
    this.length = labels.length;
    const text = { color: colours["--faint"], fontFamily: colours.font, fontSize: 11 };
    this.chart.setOption({
      animation: !still,
      animationDuration: 120,
      grid: { left: 4, right: 4, top: 8, bottom: 0, containLabel: true },
      xAxis: {
        type: "category",
        data: labels,
        axisLine: { lineStyle: { color: colours["--line"] } },
        axisTick: { show: false },
        axisLabel: text,
      },
      yAxis: {
        type: "value",
        minInterval: 1,
        splitNumber: 3,
        splitLine: { lineStyle: { color: colours["--line"] } },
        axisLabel: text,
      },
      series: series.map(({ name, colour, values }) => ({
        name,
        type: "bar",
        stack: "all",
        barCategoryGap: "20%",
        itemStyle: { color: colours[colour] },
        emphasis: { disabled: true },
        cursor: "pointer",
        data: values,
      })),
    });
  }

  resize(): void {
    this.chart.resize();
  }

  destroy(): void {
    this.chart.dispose();
  }
}
