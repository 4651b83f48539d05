/** Replaces a range of a text. Lines and columns count from 1; the end is exclusive. */
export interface Edit {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
}

/** What a person can have done about a remark: a change of the text, or of the requirements. */
export type Fix = { title: string } & ({ edits: readonly Edit[] } | { requirement: string });

/** A remark about a place in a text, as editors show it. Lines and columns count from 1. */
export interface Mark {
  line: number;
  column?: number;
  /** The exclusive end; without it, the remark is about the rest of its line. */
  endLine?: number;
  endColumn?: number;
  message: string;
  severity: "error" | "warning";
  /** The rule of the linter. */
  code?: string;
  fixes?: readonly Fix[];
}

interface Remark {
  line?: number | null;
  column?: number | null;
  detail: string;
}

/** What the API says about the lines of a text. */
export const marksOf = (remarks: readonly Remark[]): Mark[] =>
  remarks
    .filter(({ line }) => !!line)
    .map(({ line, column, detail }) => ({
      line: line!,
      column: column ?? undefined,
      message: detail,
      severity: "error",
    }));

/** The line and column of an offset in a text. */
export function placesOf(text: string): (offset: number) => { line: number; column: number } {
  return (offset) => {
    const before = text.slice(0, offset);
    return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
  };
}
