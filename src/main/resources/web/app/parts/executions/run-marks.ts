import { Problem } from "../../core/api";
import type { BuilderJob, Execution } from "../../core/types";
import type { Mark } from "../code/marks";

/** The line of the script at which an execution failed. */
export function failureMarks(execution: Execution | null): Mark[] {
  const error = execution?.error;
  if (!error?.line) {
    return [];
  }
  const message = `The latest run failed here: ${error.type}: ${error.message}`;
  return [{ line: error.line, column: error.column ?? undefined, message, severity: "error" }];
}

/** The requirements that the explanation of a failed build names, for example humanize==99.0. */
export function buildMarks({ requirements, message }: BuilderJob): Mark[] {
  const explanation = (message ?? "").toLowerCase();
  return requirements.split("\n").flatMap((text, i): Mark[] => {
    const query = text
      .replace(/[;#].*/, "")
      .replaceAll(/\s/g, "")
      .toLowerCase();
    return query && explanation.includes(query)
      ? [
          {
            line: i + 1,
            message: "The build failed because of this requirement.",
            severity: "error",
          },
        ]
      : [];
  });
}

/** A problem, when some of it is about no field that the page shows. */
export function unplaced(problem: Problem | null, pointers: readonly string[]): Problem | null {
  const placed =
    problem?.mistakes.length && problem.mistakes.every((mistake) => isAt(mistake.pointer, pointers));
  return placed ? null : problem;
}

const isAt = (pointer: string, pointers: readonly string[]): boolean =>
  pointers.some((field) => pointer === field || pointer.startsWith(field + "/"));
