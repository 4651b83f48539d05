import { draft, keepDraft } from "../core/drafts";

/** The payload that an agent was last run with in this browser, as it was typed; "": none. */
export const lastPayload = (agentId: string): string => draft<string>(`payload:${agentId}`) ?? "";

export const keepPayload = (agentId: string, payload: string): void =>
  keepDraft(`payload:${agentId}`, payload);
