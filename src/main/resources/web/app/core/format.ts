import { text } from "../text/core";

/** Numbers, times and sizes for people. */

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const absolute = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});
const timeOfDay = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const whole = new Intl.NumberFormat("en");

export const count = (n: number): string => whole.format(n);

/** "10,000+": a number of which only a lower bound is known. */
export const bounded = ({ count: n, more }: { count: number; more: boolean }): string =>
  count(n) + (more ? "+" : "");

/** "1 agent", "2 agents". */
export const plural = (n: number, word: string, words = word + "s"): string =>
  `${count(n)} ${n === 1 ? word : words}`;

/** "3 min. ago", "in 2 hr."; milliseconds for `now`. */
export function ago(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 1) {
    return text.now;
  }
  if (size < 60) {
    return relative.format(Math.trunc(seconds), "second");
  }
  if (size < 3600) {
    return relative.format(Math.trunc(seconds / 60), "minute");
  }
  if (size < 86_400) {
    return relative.format(Math.trunc(seconds / 3600), "hour");
  }
  return relative.format(Math.trunc(seconds / 86_400), "day");
}

export const at = (time: string): string => absolute.format(new Date(time));

/** "09:30:12". */
export const clockTime = (time: string): string => timeOfDay.format(new Date(time));

/** A number from 0 to 999 with three figures. */
const figures = (value: number): string => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);

/** Seconds with three figures: "12.3 ms", "4.56 s", "2 min 3 s". */
export function duration(seconds: number): string {
  if (seconds < 0.9995) {
    return text.milliseconds(figures(seconds * 1000));
  }
  if (seconds < 99.95) {
    return text.seconds(figures(seconds));
  }
  const total = Math.round(seconds);
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  return hours ? text.hours(hours, minutes) : text.minutes(minutes, total % 60);
}

export const between = (from: string, to: string | null): number =>
  ((to === null ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1000;

/** Bytes in binary units: "512 B", "1.46 KiB", "16.0 MiB". */
export function bytes(n: number): string {
  if (n < 1024) {
    return `${n} B`;
  }
  let value = n;
  let unit = "B";
  for (const next of ["KiB", "MiB", "GiB", "TiB"]) {
    if (value < 1023.5) {
      break;
    }
    value /= 1024;
    unit = next;
  }
  return `${figures(value)} ${unit}`;
}

/** "exec_01m7…v3k9": the end of an identifier tells it from others of the same moment. */
export function shortId(id: string): string {
  const end = id.indexOf("_") + 1;
  return id.length - end <= 10 ? id : `${id.slice(0, end)}…${id.slice(-6)}`;
}

/** "timed_out" → "timed out". */
export const words = (code: string): string => code.replaceAll("_", " ");
