import type { LogEntry } from "../../core/types";
import { text } from "../../text/parts/logs";

/** A part of a line that a terminal would show in another way; `style` holds class names. */
export interface Span {
  from: number;
  to: number;
  style: string;
}

/** One line as it is shown: an entry whose message has line breaks makes several. */
export interface LogLine {
  text: string;
  spans: Span[];
  time: string;
  /** The number of its entry. */
  seq: number;
  /** The first line of its entry. */
  first: boolean;
  kind: "debug" | "info" | "warning" | "error" | "stderr" | "system";
  severity: number;
}

/** What {@link LogLines.add} has changed. */
export interface Added {
  lines: LogLine[];
  /** What the line before these got at its end, because the executor had split it; or "". */
  extension: string;
}

export const LEVELS = [
  ["0", text.levels.all],
  ["20", text.levels.info],
  ["30", text.levels.warnings],
  ["40", text.levels.errors],
] as const;

const SEVERITIES: Record<string, number> = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 };

/** A line that was split is put together again up to this length. */
const LONGEST_LINE = 256 * 1024;

/** The lines of a log, in order. */
export class LogLines {
  readonly all: LogLine[] = [];
  private continued: LogEntry["stream"] | null = null;

  add(entries: readonly LogEntry[]): Added {
    const lines: LogLine[] = [];
    let extension = "";
    for (const entry of entries) {
      const [first, ...others] = linesOf(entry);
      const before = lines.at(-1) ?? this.all.at(-1);
      if (before && this.continued === entry.stream && before.text.length < LONGEST_LINE) {
        const shift = before.text.length;
        before.text += first!.text;
        before.spans.push(
          ...first!.spans.map(({ from, to, style }) => ({ from: from + shift, to: to + shift, style })),
        );
        extension += lines.length ? "" : first!.text;
        lines.push(...others);
      } else {
        lines.push(first!, ...others);
      }
      this.continued = entry.continued ? entry.stream : null;
    }
    for (const line of lines) {
      this.all.push(line);
    }
    return { lines, extension };
  }
}

function linesOf(entry: LogEntry): LogLine[] {
  const severity = severityOf(entry);
  const kind = kindOf(entry, severity);
  return entry.message.split("\n").map((message, i) => ({
    ...styled(message),
    time: entry.time,
    seq: entry.seq,
    first: i === 0,
    kind,
    severity,
  }));
}

function kindOf({ stream }: LogEntry, severity: number): LogLine["kind"] {
  if (stream === "system" || stream === "stderr") {
    return stream;
  }
  return severity >= 40 ? "error" : severity >= 30 ? "warning" : severity >= 20 ? "info" : "debug";
}

/** What has no level counts as info; what went to stderr, tracebacks for example, and Roost's own lines as errors. */
function severityOf(entry: LogEntry): number {
  if (entry.stream === "logging") {
    return SEVERITIES[entry.level ?? ""] ?? 20;
  }
  return entry.stream === "stdout" ? 20 : 40;
}

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const BASIC = [
  [0, 0, 0],
  [205, 49, 49],
  [13, 188, 121],
  [229, 229, 16],
  [36, 114, 200],
  [188, 63, 188],
  [17, 168, 205],
  [229, 229, 229],
] as const;

/** Escape sequences: colours (1: parameters, 2: "m"), everything else that moves or draws; and control characters. */
const ESCAPES =
  // eslint-disable-next-line no-control-regex
  /\x1b\[([\d;:]*)[ -/?]*([@-~])|\x1b\[\?[\d;]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()#][ -~]|\x1b[ -~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** The text without escape sequences, and where they coloured it. A progress bar shows its last state. */
export function styled(message: string): { text: string; spans: Span[] } {
  const source = message.replace(/\r+$/, "").replace(/^[^]*\r/, "");
  const spans: Span[] = [];
  let text = "";
  let end = 0;
  let style = "";
  const pen = new Pen();
  const draw = (to: number) => {
    const piece = source.slice(end, to);
    if (piece && style) {
      spans.push({ from: text.length, to: text.length + piece.length, style });
    }
    text += piece;
  };
  for (const found of source.matchAll(ESCAPES)) {
    draw(found.index);
    end = found.index + found[0].length;
    if (found[2] === "m") {
      style = pen.take((found[1] ?? "").split(/[;:]/).map(Number));
    }
  }
  draw(source.length);
  return { text, spans };
}

/** The state of a terminal's pen: SGR parameters in, class names out. */
class Pen {
  private readonly on = new Map<string, string>();

  take(parameters: number[]): string {
    for (let i = 0; i < parameters.length; i++) {
      const code = parameters[i]!;
      if (code === 38 || code === 48) {
        const [colour, used] = extended(parameters.slice(i + 1));
        this.on.set(code === 38 ? "colour" : "back", `${code === 38 ? "" : "on-"}${colour}`);
        i += used;
      } else {
        this.set(code);
      }
    }
    return [...this.on.values()].map((name) => `ansi-${name}`).join(" ");
  }

  private set(code: number): void {
    const names: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "struck" };
    if (code === 0) {
      this.on.clear();
    } else if (names[code]) {
      this.on.set(names[code], names[code]);
    } else if (code === 22) {
      this.on.delete("bold");
      this.on.delete("dim");
    } else if (code >= 23 && code <= 29) {
      this.on.delete(names[code - 20] ?? "");
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      this.on.set("colour", COLOURS[code % 10]!);
    } else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) {
      this.on.set("back", `on-${COLOURS[code % 10]}`);
    } else if (code === 39) {
      this.on.delete("colour");
    } else if (code === 49) {
      this.on.delete("back");
    }
  }
}

/** 256 colours and true colours become the nearest of the eight; also how many parameters they took. */
function extended([kind, ...values]: number[]): [colour: string, used: number] {
  if (kind === 2) {
    return [nearest(values[0] ?? 0, values[1] ?? 0, values[2] ?? 0), 4];
  }
  const index = values[0] ?? 0;
  if (index < 16) {
    return [COLOURS[index % 8]!, 2];
  }
  if (index >= 232) {
    return [index < 244 ? "black" : "white", 2];
  }
  const cube = index - 16;
  const level = (n: number) => (n % 6 ? 55 + (n % 6) * 40 : 0);
  return [nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)), 2];
}

function nearest(red: number, green: number, blue: number): string {
  const distances = BASIC.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  return COLOURS[distances.indexOf(Math.min(...distances))]!;
}
