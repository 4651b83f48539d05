/** A remark about a place in a text, as editors show it. Lines and columns count from 1. */
export interface Mark {
  line: number;
  column?: number;
  message: string;
  severity: "error" | "warning";
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
