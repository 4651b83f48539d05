import type { Query } from "../../core/api";

/** The filter of the agents as text: words of the name, and `tag:billing`. */
export interface AgentFilter {
  words: string;
  tags: string[];
}

const TAG = /^tag:(\S*)$/;

export function parseAgents(text: string): AgentFilter {
  const parts = text.split(/\s+/).filter(Boolean);
  const tags = parts.flatMap((part) => TAG.exec(part)?.[1]?.split(",") ?? []).filter(Boolean);
  return { words: parts.filter((part) => !TAG.test(part)).join(" "), tags: [...new Set(tags)] };
}

/** The filters of GET /agents. */
export function agentQuery(text: string): Query {
  const { words, tags } = parseAgents(text);
  return { q: words, tag: tags.join(",") };
}

/** The text without a tag, or with one more. */
export function withTag(text: string, tag: string, wanted: boolean): string {
  const { words, tags } = parseAgents(text);
  const others = tags.filter((other) => other !== tag);
  return [words, ...(wanted ? [...others, tag] : others).map((each) => `tag:${each}`)]
    .filter(Boolean)
    .join(" ");
}
