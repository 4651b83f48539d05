/** At most this many lines above zero. */
const MOST = 4;

/** The values of a chart's grid lines: whole numbers at equal distances, from 0 to at least the highest value. */
export function ticks(highest: number): number[] {
  const least = Math.max(1, highest) / MOST;
  const magnitude = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * magnitude).find((n) => n >= least) ?? 1);
  const lines = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: lines + 1 }, (_, i) => i * step);
}
