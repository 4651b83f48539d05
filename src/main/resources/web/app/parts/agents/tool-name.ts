const MOST_CHARACTERS = 64;

/** The name of a tool that an agent's name suggests; empty if nothing of the agent's name can be in one. */
export const suggestedToolName = (agentName: string): string =>
  agentName
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^(_*roost_)+|^_+/, "")
    .slice(0, MOST_CHARACTERS)
    .replace(/_+$/, "");
