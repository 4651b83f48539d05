import type { Agent, Preloaded } from "../../core/types";
import { text } from "../../text/parts/agents";

/** The number of names of packages in a sentence. */
const MOST_NAMES = 12;

/** "pandas, numpy and 3 more". */
export function packageText(packages: string[]): string {
  const more = packages.length - MOST_NAMES;
  return more > 0
    ? text.preloaded.andMore(packages.slice(0, MOST_NAMES).join(", "), more)
    : packages.join(", ") || text.preloaded.noPackages;
}

/** What is imported in advance, in a few words; "" when nothing is. */
export const preloadNote = (agent: Agent): string =>
  agent.preloaded?.modules ? text.preloaded.note(agent.preloaded.modules) : "";

/** What preloading saves and costs. */
export const savingText = ({ import_seconds, memory_bytes }: Preloaded): string =>
  text.preloaded.saves(import_seconds, memory_bytes);

/** Why there is nothing to show. */
export function unknownText(agent: Pick<Agent, "preload" | "running_revision">): string {
  return agent.preload === "off"
    ? text.preloaded.off
    : agent.running_revision === null
      ? text.preloaded.afterBuild
      : text.preloaded.afterRevision(agent.running_revision);
}
