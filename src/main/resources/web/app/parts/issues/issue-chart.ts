import { html, svg, type TemplateResult } from "lit";
import type { IssueHour } from "../../core/types";
import { text } from "../../text/parts/issues";

export const DAYS = 14;
const DAY = 86_400_000;
const WIDTH = 20;
const GAP = 4;
const HEIGHT = 72;

export interface Day {
  start: Date;
  count: number;
}

/** The failures of the last days of this browser's calendar, oldest first. */
export function daysOf(hours: readonly IssueHour[], now = new Date()): Day[] {
  const days = Array.from({ length: DAYS }, (_, i) => ({
    start: new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS + 1 + i),
    count: 0,
  }));
  for (const { hour, count: failures } of hours) {
    const time = Date.parse(hour);
    const day = days.findLast(({ start }) => start.getTime() <= time);
    if (day) {
      day.count += failures;
    }
  }
  return days;
}

/** The failures of the last 24 hours, by whole hours. */
export const lastDay = (hours: readonly IssueHour[], now = Date.now()): number =>
  hours
    .filter(({ hour }) => Date.parse(hour) > now - DAY)
    .reduce((sum, { count: failures }) => sum + failures, 0);

const dayText = (day: Date): string => day.toLocaleDateString(undefined, { month: "short", day: "numeric" });

/** Bars of failures per day. */
export function issueChart(hours: readonly IssueHour[]): TemplateResult {
  const days = daysOf(hours);
  const most = Math.max(1, ...days.map((day) => day.count));
  const total = days.reduce((sum, day) => sum + day.count, 0);
  const bar = ({ start, count: failures }: Day, i: number) => {
    // A day with few failures stays visible beside one with many.
    const height = failures ? Math.max(3, (failures / most) * HEIGHT) : 1;
    return svg`<rect class=${failures ? "some" : "none"} x=${i * (WIDTH + GAP)} y=${HEIGHT - height}
      width=${WIDTH} height=${height}><title>${text.chart.ofDay(dayText(start), failures)}</title></rect>`;
  };
  return html`<figure class="issue-chart">
    <svg
      viewBox="0 0 ${DAYS * (WIDTH + GAP) - GAP} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label=${text.chart.label(total, DAYS, most)}
    >
      ${days.map(bar)}
    </svg>
    <figcaption class="row faint small">
      <span class="grow">${dayText(days[0]!.start)}</span><span>${text.chart.today}</span>
    </figcaption>
  </figure>`;
}
