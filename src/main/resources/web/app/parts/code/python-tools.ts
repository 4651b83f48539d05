import { diffLines } from "diff";
import { importMarks } from "./import-checks";
import type { Mark } from "./marks";
import { checkPython } from "./python-checks";
import type { PythonContext } from "./python-context";
import { importsOf } from "./python-imports";
import { format, lint } from "./ruff";
import { SYNTAX } from "./ruff-marks";

export { completeTyped, pythonNames } from "./python-names";
export { format };

/** What the editor loads for a person who edits Python. */
export type PythonTools = typeof import("./python-tools");

/**
 * All remarks about a script, in its order: those of Ruff, imports that nothing provides, and a main that can't be
 * called. Without Ruff, the editor's own checks of the syntax take its place.
 */
export async function check(script: string, context: PythonContext): Promise<Mark[]> {
  if (!script.trim()) {
    return [];
  }
  const found = await lint(script, context.python).catch(() => null);
  const invalid = found?.some(({ code }) => code === SYNTAX);
  return [
    ...(found ?? []),
    ...importMarks(importsOf(script), context),
    ...(invalid ? [] : checkPython(script, { syntax: !found })),
  ].sort((a, b) => a.line - b.line);
}

/** The changes that turn one text into another, so that the cursor and the marks between them stay. */
export function difference(before: string, after: string): { from: number; to: number; insert: string }[] {
  let at = 0;
  const changes: { from: number; to: number; insert: string }[] = [];
  for (const { value, added, removed } of diffLines(before, after)) {
    const to = added ? at : at + value.length;
    if (added || removed) {
      changes.push({ from: at, to, insert: added ? value : "" });
    }
    at = to;
  }
  return changes;
}
