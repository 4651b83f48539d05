import { get } from "../../core/api";
import type { Agent, BuilderJob } from "../../core/types";

/** Seconds that one request waits for the end of a build. */
const WAIT = "20";

/** Whether an earlier revision than the newest runs. */
export const isBehind = (agent: Agent): boolean =>
  agent.running_revision !== null && agent.running_revision !== agent.revision;

/** Which revision runs, if it is not the newest; or null. */
export function behindText(agent: Agent): string | null {
  if (!isBehind(agent)) {
    return null;
  }
  return agent.build_failure
    ? `Revision ${agent.revision} failed to build; revision ${agent.running_revision} still runs.`
    : `Revision ${agent.revision} is building; revision ${agent.running_revision} runs until then.`;
}

/** A short note on a revision; or "". */
export function revisionNote(agent: Agent, revision: number): string {
  if (!isBehind(agent)) {
    return revision === agent.revision ? "current" : "";
  }
  if (revision === agent.revision) {
    return agent.build_failure ? "failed to build" : "building";
  }
  return revision === agent.running_revision ? "runs now" : "";
}

/**
 * The agent, when the revision that was just saved runs. Null: it can't be built. What was never built
 * need not be waited for, since an execution waits itself.
 */
export async function whenItRuns(agent: Agent): Promise<Agent | null> {
  if (!isBehind(agent)) {
    return agent;
  }
  for (;;) {
    const job = await get<BuilderJob>(`/builder-jobs/${agent.latest_builder_job_id}`, { wait: WAIT });
    if (job.state === "succeeded") {
      return agent;
    }
    if (job.state !== "queued" && job.state !== "running") {
      return null;
    }
  }
}
