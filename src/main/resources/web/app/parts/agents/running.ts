import { get } from "../../core/api";
import type { Agent, BuilderJob } from "../../core/types";
import { text } from "../../text/parts/agents";

/** Seconds that one request waits for the end of a build. */
const WAIT = "20";

/** Whether an earlier revision than the newest runs. */
export const isBehind = (agent: Agent): boolean =>
  agent.running_revision !== null && agent.running_revision !== agent.revision;

/** Which revision runs, if it is not the newest; or null. */
export function behindText(agent: Agent): string | null {
  const { revision, running_revision: running, build_failure } = agent;
  if (running === null || !isBehind(agent)) {
    return null;
  }
  return build_failure
    ? text.running.failedToBuild(revision, running)
    : text.running.isBuilding(revision, running);
}

/** A short note on a revision; or "". */
export function revisionNote(agent: Agent, revision: number): string {
  if (!isBehind(agent)) {
    return revision === agent.revision ? text.running.notes.current : "";
  }
  if (revision === agent.revision) {
    return agent.build_failure ? text.running.notes.failed : text.running.notes.building;
  }
  return revision === agent.running_revision ? text.running.notes.running : "";
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
