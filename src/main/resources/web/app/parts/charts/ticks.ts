/** At most this many lines above zero. */
const MOST = 4;

const DAY = 86_400;

/** The values of a chart's grid lines: whole numbers at equal distances, from 0 to at least the highest value. */
export function ticks(highest: number): number[] {
  const least = Math.max(1, highest) / MOST;
  const magnitude = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * magnitude).find((n) => n >= least) ?? 1);
  const lines = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: lines + 1 }, (_, i) => i * step);
}

/** Distances between lines of seconds that people can divide by: below a minute 1, 2 and 5, then parts of hours. */
const SECONDS = [
  ...[-3, -2, -1, 0].flatMap((power) => [1, 2, 5].map((n) => Number(`${n}e${power}`))),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600],
];

/** As `ticks`, of seconds; the first line above zero is at 1 ms or more. */
export function durationTicks(highest: number): number[] {
  const step = SECONDS.find((seconds) => seconds * MOST >= highest) ?? DAY * Math.ceil(highest / DAY / MOST);
  const lines = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: lines + 1 }, (_, i) => i * step);
}
