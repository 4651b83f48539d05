import { get } from "../../core/api";
import type { Execution } from "../../core/types";
import { text } from "../../text/parts/executions";
import type { Mark } from "../code/marks";
import { ranRevision } from "./draft-runs";
import { failureMarks } from "./run-marks";

/** Where an execution failed, in its agent's script as it is now. No mark: that line has been changed since. */
export async function failedLine(executionId: string, agentId: string, script: string): Promise<Mark[]> {
  const execution = await get<Execution>(`/executions/${executionId}`);
  const { agent_revision: revision } = execution;
  const message = execution.draft
    ? text.marks.draft
    : (error: string) => text.marks.revision(revision, error);
  const marks = execution.agent_id === agentId ? failureMarks(execution, message) : [];
  if (!marks.length) {
    return [];
  }
  const ran = await ranRevision(execution);
  const { lineIn } = await import("../code/diff-lines");
  return marks.flatMap((mark) => {
    const line = ran && lineIn(ran.script, mark.line, script);
    return line === null ? [] : [{ ...mark, line }];
  });
}
