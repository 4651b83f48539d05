import type { Execution } from "../../core/types";
import { text } from "../../text/parts/agents";

export interface Health {
  /** "none": it works now, but did not always, or it has never run. */
  state: "succeeded" | "failed" | "none";
  words: string;
}

/** Whether an agent is well, by its latest executions that have ended, newest first. */
export function health(latest: readonly Pick<Execution, "state">[]): Health {
  const [newest] = latest;
  if (!newest) {
    return { state: "none", words: text.health.noRuns };
  }
  const failed = latest.filter(({ state }) => state !== "succeeded").length;
  const state = failed === 0 ? "succeeded" : newest.state === "succeeded" ? "none" : "failed";
  if (latest.length === 1) {
    return { state, words: failed ? text.health.lastFailed : text.health.lastSucceeded };
  }
  const words = failed
    ? text.health.someFailed(latest.length, failed)
    : text.health.allSucceeded(latest.length);
  return { state, words };
}
