import { requestExactly, toJson } from "../../core/api";
import { draft, keepDraft } from "../../core/drafts";
import type { ExecutorJob, Page } from "../../core/types";

const LONGEST = 64 * 1024;

/** The payload that an agent was last run with in this browser, as it was typed. */
export const keptPayload = (agentId: string): string | null => draft<string>(`payload:${agentId}`);

export const keepPayload = (agentId: string, payload: string): void =>
  keepDraft(`payload:${agentId}`, payload);

/** The payload to run an agent with again: the one kept in this browser, or that of its newest job; "": none. */
export async function lastPayload(agentId: string): Promise<string> {
  const kept = keptPayload(agentId);
  if (kept !== null) {
    return kept;
  }
  const query = { agent_id: agentId, limit: 1 };
  const { value } = await requestExactly<Page<ExecutorJob>>("GET", "/executor-jobs", { query });
  const payload = value.data[0]?.payload ?? null;
  const text = payload === null ? "" : toJson(payload, 2);
  return text.length > LONGEST ? "" : text;
}
