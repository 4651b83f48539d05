import { text } from "../../text/parts/code";
import type { Mark } from "./marks";

interface Place {
  row: number;
  column: number;
}

/** A diagnostic of Ruff; rows and columns count from 1, and columns count UTF-16 code units. */
export interface RuffDiagnostic {
  code: string | null;
  message: string;
  start_location: Place;
  end_location: Place;
  fix: {
    message: string | null;
    edits: { content: string | null; location: Place; end_location: Place }[];
  } | null;
}

/** What keeps a script from running, or raises when the line is reached. */
const FAILS = /^(invalid-syntax|E9|PLE|F82|F63[45]|F70)/;

/** Ruff's name of syntax errors; the others are rules such as F401. */
export const SYNTAX = "invalid-syntax";

/** Diagnostics of Ruff as the editor's remarks, in the order of the text. */
export const ruffMarks = (diagnostics: readonly RuffDiagnostic[]): Mark[] =>
  diagnostics
    .map(({ code, message, start_location: start, end_location: end, fix }) => ({
      line: start.row,
      column: start.column,
      endLine: end.row,
      endColumn: end.column,
      message: sentence(message),
      severity: FAILS.test(code ?? SYNTAX) ? ("error" as const) : ("warning" as const),
      code: code ?? SYNTAX,
      ...(fix && {
        fixes: [
          {
            title: titleOf(fix.message),
            edits: fix.edits.map(({ content, location, end_location }) => ({
              line: location.row,
              column: location.column,
              endLine: end_location.row,
              endColumn: end_location.column,
              text: content ?? "",
            })),
          },
        ],
      }),
    }))
    .sort((a, b) => a.line - b.line || a.column - b.column);

/** "undefined name `x`" → "Undefined name “x”." */
const sentence = (message: string): string =>
  message
    .replaceAll(/`([^`]*)`/g, "“$1”")
    .replace(/^./, (first) => first.toUpperCase())
    .replace(/\.?$/, ".");

/** "Remove unused import: `os`" as the text of a button. */
const titleOf = (message: string | null): string =>
  (message ?? text.ruff.fix).replaceAll("`", "").replace(": ", " ");
