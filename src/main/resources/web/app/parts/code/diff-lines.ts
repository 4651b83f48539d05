import { diffLines } from "diff";

/** A line of two texts side by side; a number that is null: the line isn't in that text. */
export interface DiffLine {
  before: number | null;
  after: number | null;
  text: string;
}

/** Equal lines between those that differ, of which only the first and last are worth showing. */
export interface DiffGap {
  lines: DiffLine[];
}

const CONTEXT = 3;

export function linesOf(before: string, after: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  for (const { value, added, removed } of diffLines(ended(before), ended(after))) {
    for (const text of value.replace(/\n$/, "").split("\n")) {
      lines.push({ before: added ? null : ++left, after: removed ? null : ++right, text });
    }
  }
  return lines;
}

/** The number that a line of one text has in another; null: it isn't there any more. */
export const lineIn = (before: string, line: number, after: string): number | null =>
  linesOf(before, after).find((each) => each.before === line)?.after ?? null;

/** A last line without an end is not another line for that. */
const ended = (text: string): string => (text === "" || text.endsWith("\n") ? text : text + "\n");

/** Leaves out what is equal, but for a few lines around each change. */
export function folded(lines: readonly DiffLine[]): (DiffLine | DiffGap)[] {
  const differs = ({ before, after }: DiffLine) => before === null || after === null;
  const near = new Set<number>();
  lines.forEach((line, i) => {
    if (differs(line)) {
      for (let k = i - CONTEXT; k <= i + CONTEXT; k++) {
        near.add(k);
      }
    }
  });
  const found: (DiffLine | DiffGap)[] = [];
  lines.forEach((line, i) => {
    const last = found.at(-1);
    if (near.has(i)) {
      found.push(line);
    } else if (last && "lines" in last) {
      last.lines.push(line);
    } else {
      found.push({ lines: [line] });
    }
  });
  return found;
}
