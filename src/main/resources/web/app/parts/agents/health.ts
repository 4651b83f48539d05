import { count } from "../../core/format";
import type { Execution } from "../../core/types";

export interface Health {
  /** "none": it works now, but did not always, or it has never run. */
  state: "succeeded" | "failed" | "none";
  words: string;
}

/** Whether an agent is well, by its latest executions that have ended, newest first. */
export function health(latest: readonly Pick<Execution, "state">[]): Health {
  const [newest] = latest;
  if (!newest) {
    return { state: "none", words: "no runs yet" };
  }
  const failed = latest.filter(({ state }) => state !== "succeeded").length;
  const state = failed === 0 ? "succeeded" : newest.state === "succeeded" ? "none" : "failed";
  if (latest.length === 1) {
    return { state, words: failed ? "last run failed" : "last run succeeded" };
  }
  const ended = failed ? `${count(failed)} failed` : "all succeeded";
  return { state, words: `last ${count(latest.length)} runs: ${ended}` };
}
