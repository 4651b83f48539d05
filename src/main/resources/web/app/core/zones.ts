/** Times of a time zone's clock, as "2026-11-24 09:00" or with seconds, and the instants that they are. */

const WALL = /^(\d{4})-(\d\d)-(\d\d)[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

/** The zone if this browser knows it, or UTC: the server's list may be newer, or the name is still being typed. */
export function knownZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone && zone;
  } catch {
    return "UTC";
  }
}

/** What the clocks of a zone show at an instant; with seconds unless they are zero. */
export function wallTime(instant: string, zone: string): string {
  const shown = new Date(Date.parse(instant) + offset(Date.parse(instant), zone)).toISOString();
  return shown.slice(0, 19).replace("T", " ").replace(/:00$/, "");
}

/**
 * The instant at which the clocks of a zone show a time; null: the text is no time. Of a time that comes twice,
 * when clocks are set back, it is the first; one that is skipped is taken as if the clocks had not been set yet.
 */
export function instantOf(text: string, zone: string): string | null {
  const [, ...parts] = WALL.exec(text.trim()) ?? [];
  const [year, month, day, hour, minute, second = 0] = parts.map((part) => Number(part ?? 0));
  const wall = Date.UTC(year!, month! - 1, day, hour, minute, second);
  if (!parts.length || new Date(wall).toISOString().slice(0, 10) !== text.trim().slice(0, 10)) {
    return null;
  }
  const before = wall - offset(wall - DAY, zone);
  const after = wall - offset(wall + DAY, zone);
  const exact = [before, after].find((time) => time + offset(time, zone) === wall);
  return new Date(exact ?? before).toISOString();
}

const DAY = 86_400_000;

/** Milliseconds that the clocks of a zone are ahead of UTC at a time. */
function offset(time: number, zone: string): number {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  const parts = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
  );
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
}
