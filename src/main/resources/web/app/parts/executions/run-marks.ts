import { Problem } from "../../core/api";
import type { Agent, BuilderJob, Execution } from "../../core/types";
import { text } from "../../text/parts/executions";
import { namedLines } from "../builds/named-requirements";
import type { Mark } from "../code/marks";

/** The line of the script at which an execution failed; `say` makes the message of its error. */
export function failureMarks(execution: Execution | null, say = text.marks.latestRun): Mark[] {
  const error = execution?.error;
  if (!error?.line) {
    return [];
  }
  const message = say(`${error.type}: ${error.message}`);
  return [{ line: error.line, column: error.column ?? undefined, message, severity: "error" }];
}

/**
 * The lines of a text that have requirements because of which the agent's latest build failed. The job's own
 * requirements are sorted and have no comments, so their line numbers are not those of the text.
 */
export const buildMarks = (failed: BuilderJob | null, agent: Agent, requirements: string): Mark[] =>
  failed?.id === agent.latest_builder_job_id
    ? namedLines(requirements, failed.message ?? "").map((line) => ({
        line,
        message: text.marks.buildFailed,
        severity: "error",
      }))
    : [];

/** A problem, when some of it is about no field that the page shows. */
export function unplaced(problem: Problem | null, pointers: readonly string[]): Problem | null {
  const placed =
    problem?.mistakes.length && problem.mistakes.every((mistake) => isAt(mistake.pointer, pointers));
  return placed ? null : problem;
}

const isAt = (pointer: string, pointers: readonly string[]): boolean =>
  pointers.some((field) => pointer === field || pointer.startsWith(field + "/"));
