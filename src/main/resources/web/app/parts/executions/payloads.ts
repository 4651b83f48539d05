import { all, once, requestExactly, toJson } from "../../core/api";
import { draft, keepDraft } from "../../core/drafts";
import type { ExecutorJob, JobFile, Page } from "../../core/types";
import { text } from "../../text/parts/executions";

const LONGEST = 64 * 1024;
const SHOWN = 60;

/** The payload that an agent was last run with in this browser, as it was typed. */
export const keptPayload = (agentId: string): string | null => draft<string>(`payload:${agentId}`);

export const keepPayload = (agentId: string, payload: string): void =>
  keepDraft(`payload:${agentId}`, payload);

/**
 * The payload to run an agent with again: the one kept in this browser, or that of its newest job; "": none, or
 * longer than what an editor takes.
 */
export async function lastPayload(agentId: string, longest = LONGEST): Promise<string> {
  const kept = keptPayload(agentId);
  if (kept !== null) {
    return kept;
  }
  const query = { agent_id: agentId, limit: 1 };
  const { value } = await requestExactly<Page<ExecutorJob>>("GET", "/executor-jobs", { query });
  const payload = value.data[0]?.payload ?? null;
  const json = payload === null ? "" : toJson(payload, 2);
  return json.length > longest ? "" : json;
}

/** The files that a job was submitted with, which another job may have, too. */
export const inputsOf = async (jobId: string): Promise<JobFile[]> =>
  (await all<JobFile>(`/executor-jobs/${jobId}/files`)).filter(({ kind }) => kind === "input");

/** In one line, for messages and hints. */
export function payloadText(payload: string): string {
  const line = payload.trim().replace(/\s+/g, " ");
  return line === ""
    ? text.payloads.without
    : text.payloads.with(line.length > SHOWN ? line.slice(0, SHOWN) + "…" : line);
}

/** Submits a job with a payload as JSON text; "": none. */
export async function submitPayload(agentId: string, payload: string): Promise<ExecutorJob> {
  const { value } = await requestExactly<ExecutorJob>("POST", `/agents/${agentId}/execute`, {
    text: payload.trim() ? `{"payload": ${payload}}` : "{}",
    headers: once(),
  });
  return value;
}
